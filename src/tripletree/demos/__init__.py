"""Demos: small worlds with solved agents, to try everything on without a log of one's own."""
