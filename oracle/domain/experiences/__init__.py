"""Experiences: lessons of earlier work, and which prompts ask for them. Pure."""
