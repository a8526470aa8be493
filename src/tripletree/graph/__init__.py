"""How an agent moves from leaf to leaf: counted transitions, the chain they make, its check and its rollouts."""
