"""What was: recorded runs on a timeline, and every tensor's value as of a step.

`Timeline` in `timeline.py` and `Frame` in `frame.py` are the doors.
"""
