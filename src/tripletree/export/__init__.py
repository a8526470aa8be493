"""A tree to take away: as C, Python or ONNX, for scikit-learn, as a Graphviz diagram, or as rules in JSON."""
