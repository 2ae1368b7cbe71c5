"""Write, propose and recall experiences: lessons of earlier work."""
