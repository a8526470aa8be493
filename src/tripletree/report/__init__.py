"""One HTML file that a person reads from top to bottom, and that still answers questions without a network."""
