"""Why there is no gradient, where it ends, and where all of it could be cut.

missing_gradient.py is the door.
"""
