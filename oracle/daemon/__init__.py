"""The daemon does the work of other commands earlier. It keeps no state that is not on disk."""
