"""Transports of wake-ups behind one protocol. A wake-up tells a session to look; it never carries the answer."""
