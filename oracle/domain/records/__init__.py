"""Records, drafts, claims, memories and packets as values."""
