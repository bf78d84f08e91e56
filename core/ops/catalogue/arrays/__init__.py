"""Making, cutting, joining, indexing arrays."""
