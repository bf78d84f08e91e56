"""Composite blocks: what is drawn in one go, as ordinary operations inside a name scope."""
