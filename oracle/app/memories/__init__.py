"""An agent's memories, and the packets made of them."""
