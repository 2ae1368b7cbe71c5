"""Skills of agents as a catalogue: what a SKILL.md says, which gates it passes, and how a prompt lists it. Pure."""
