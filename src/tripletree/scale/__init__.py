"""Growth on logs that are larger than memory: pieces, a cache of them, passes over it, and who does the work."""
