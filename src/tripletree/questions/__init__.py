"""Questions to a fitted tree, and their answers."""
