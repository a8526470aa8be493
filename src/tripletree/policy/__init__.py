"""The tree as a policy: it acts, is flown beside its agent, and learns from where it got itself."""
