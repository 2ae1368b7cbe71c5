"""Use cases: the only rooms that the outside (commands, scripts, hooks, servers) may call."""
