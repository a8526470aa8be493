"""The tree as a policy."""
