"""Tests of the room `graph`."""
