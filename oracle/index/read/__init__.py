"""Questions to the index. Nothing here writes."""
