"""Tests of tripletree; the folders mirror src/tripletree."""
