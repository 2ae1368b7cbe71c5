"""Programs with the flags, output and exit codes that running teams rely on. They call use cases and print."""
