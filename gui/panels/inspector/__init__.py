"""The inspector: everything about one node, one derived operation, or one wire."""
