"""What a user means: attributes, states, places, foils and their limits, levels and agents, in any form they come."""
