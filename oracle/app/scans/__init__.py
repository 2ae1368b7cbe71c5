"""Scan this machine and the repositories of projects."""
