"""Loops: the plan of one iteration, running it again and again, and what is kept of it."""
