"""The command `oracle`: it parses words, calls a use case, and prints a table, lines or JSON."""
