"""Pictures as numbers: what to draw, for matplotlib and the browser alike."""
