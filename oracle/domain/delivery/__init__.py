"""Handoffs, receipts, markers and the files of a task tree as values."""
