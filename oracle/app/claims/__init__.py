"""Claims of an answer, and their check against the files."""
