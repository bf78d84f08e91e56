"""The node canvas."""
