"""Answer a question with quotes from the files."""
