"""Receipts, responses, the inbox and the task tree on disk."""
