"""Rank the passages that a search has found."""
