"""What a hook adds to a session: its seat's brief, and context for a prompt."""
