"""The timeline: runs as bars, the steps of a run as a table."""
