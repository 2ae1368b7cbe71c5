"""Scanners: read a machine or a repository as it stands and say what is there. They write nothing.

No program is started but `gh`, and that only where the network may be asked.
"""
