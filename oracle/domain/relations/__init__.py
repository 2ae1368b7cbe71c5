"""How people say that one thing has to do with another."""
