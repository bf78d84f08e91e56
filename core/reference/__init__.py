"""docs/ops.md: the reference page of the op table, made from the table alone."""
