"""Gradients of a document checked: native, overridden and numeric, node by node, in sentences."""
