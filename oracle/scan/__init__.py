"""Scanners: read a machine or a repository as it stands and say what is there. They write nothing and start no program."""
