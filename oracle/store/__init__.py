"""Everything on disk, one concern a module. Source files are synced to disk; derived files are only replaced."""
