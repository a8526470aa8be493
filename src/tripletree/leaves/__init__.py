"""Leaves: what each region of the state space holds, and how well it predicts."""
