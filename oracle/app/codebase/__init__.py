"""What a repository says: ancestry, owners of files, names that no longer exist."""
