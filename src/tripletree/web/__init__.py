"""The agent in the browser and in the notebook: one function that answers questions, and what serves it."""
