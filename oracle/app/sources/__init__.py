"""Sources: notes and memories that other programs keep, read in place."""
