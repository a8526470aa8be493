"""Agreement with scikit-learn where the problem is the same."""
