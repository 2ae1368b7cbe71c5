"""The daemon's lock, state, log and token on disk."""
