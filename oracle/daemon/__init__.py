"""The daemon: does earlier what any command would do anyway, and holds nothing that is not on disk."""
