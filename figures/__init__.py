"""The paper's figures, drawn from the road and the lander."""
