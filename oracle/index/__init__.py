"""The index: a disposable SQLite file that caches the content of the files, and the projections printed from it."""
