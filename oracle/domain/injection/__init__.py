"""What a hook adds to a prompt: the envelope, and which prompts get one."""
