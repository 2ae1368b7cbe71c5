"""Fronts with the flags, output and exit codes that running teams rely on; they call use cases and print."""
