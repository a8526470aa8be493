"""Small logs in the layouts of libraries that do not install beside the others; ``make.py`` writes them."""
