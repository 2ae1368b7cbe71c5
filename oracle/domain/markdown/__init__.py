"""Markdown text: where code is, passages, frontmatter documents."""
