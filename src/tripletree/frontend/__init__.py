"""What a browser needs to question a tree on its own: the tree as data, and hand-written ES modules that read it."""
