"""The files that this machine shares through a hub."""
