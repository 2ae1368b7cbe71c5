"""Files, durable steps and programs, independent of the layout of a Root."""
