"""The problems panel, and the card of a step that failed."""
