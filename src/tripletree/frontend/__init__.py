"""What a browser needs to ask a tree by itself: the tree as data, and hand-written ES modules that read it."""
