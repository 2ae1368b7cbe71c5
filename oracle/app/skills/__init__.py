"""Find the skills that an agent has, and list, show, print and match them."""
