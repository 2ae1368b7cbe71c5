"""Decisions that people are asked for."""
