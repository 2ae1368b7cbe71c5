"""How passages are ranked for a question: what it asks, what each signal gives, and the sum. Pure but for `links`."""
