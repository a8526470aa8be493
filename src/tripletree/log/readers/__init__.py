"""Readers of file formats, one module each: a path to column names and columns."""
