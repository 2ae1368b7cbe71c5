"""Several machines share one Root through a hub."""
