"""Switch a team over from an older tool, and back."""
