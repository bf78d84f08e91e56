"""docs/ops.md and docs/blocks.md: the reference pages, made from the tables alone."""
