"""Dispatch, deliver, complete and acknowledge handoffs."""
