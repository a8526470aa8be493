"""What happens in a real browser."""
