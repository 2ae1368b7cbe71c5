"""What several machines share through a hub, as pure values and rules."""
