"""Leaves: attributes, boxes, losses."""
