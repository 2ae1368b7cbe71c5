"""Markdown files with frontmatter, and the records made of them."""
