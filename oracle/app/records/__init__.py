"""Write, find, list and review records."""
