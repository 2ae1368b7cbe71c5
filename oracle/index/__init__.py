"""The index: one disposable SQLite file that caches what the files say, and the projections printed from it."""
