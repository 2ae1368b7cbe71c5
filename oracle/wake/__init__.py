"""Wake seats in tmux. A wake-up tells a session where to look; it never carries the answer."""
