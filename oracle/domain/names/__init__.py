"""Names: slugs, entities, seats, and the file names made of them."""
