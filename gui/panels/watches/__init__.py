"""The watches panel: expressions, what they are where the debugger stands, and over the runs."""
