"""Computation: one module for each question that can be asked of a fitted tree; takes a Fitted, returns an Answer."""
