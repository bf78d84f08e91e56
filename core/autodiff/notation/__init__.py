"""What a step does, in mathematical notation, rendered from the operations that run.

`Notation` in step_notation.py is the door.
"""
