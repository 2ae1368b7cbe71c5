"""Scanners: report what is on a machine or in a repository. They only read, and start no program but `gh`."""
