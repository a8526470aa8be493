"""Agents and logs as other libraries make them, with those libraries: for ``make test-extras``."""
