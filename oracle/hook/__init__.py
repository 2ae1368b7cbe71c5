"""The Stop hook of an agent, and the installers of hooks and skills."""
