"""Growth and the grown tree."""
