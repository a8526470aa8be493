"""The fitted bundle: fit, bootstrap, tables."""
