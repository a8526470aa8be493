"""Side-by-side measurements against peers, ratios in one run: ``python -m benchmarks``."""
