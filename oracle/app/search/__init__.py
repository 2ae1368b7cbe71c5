"""Find passages: by words, by links, by meaning."""
