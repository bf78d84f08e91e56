"""The tensor panel: all elements of one tensor, read in pages."""
