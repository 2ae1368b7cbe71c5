"""Answer a question with quotes that stand in the files."""
