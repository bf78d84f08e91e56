"""The docked panels around the canvas."""
