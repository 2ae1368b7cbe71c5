"""Queries of the index. Nothing here writes."""
