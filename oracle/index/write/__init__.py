"""Fill the index from the files, and print its projections."""
