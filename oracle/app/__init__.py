"""Use cases. Commands, scripts, hooks and servers call these packages and no lower ones."""
