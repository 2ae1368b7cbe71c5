"""Files, durable steps and programs: nothing of the layout of a Root."""
