"""Decisions that wait for people."""
