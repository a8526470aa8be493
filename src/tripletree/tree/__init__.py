"""Growth: from targets to a tree held in parallel arrays."""
