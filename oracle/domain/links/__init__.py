"""Links and entities that a text mentions."""
