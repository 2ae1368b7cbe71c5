"""The layout of a Root, its lock, settings, registry and facts."""
