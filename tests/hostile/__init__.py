"""Files from strangers: whatever they hold, loading raises the project's own error, soon, and runs nothing."""
