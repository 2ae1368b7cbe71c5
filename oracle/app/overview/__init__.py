"""What a Root holds: counts, and words for completion."""
