"""Doors for hooks of agents: what happens at the end of a turn, and the installer of its settings."""
