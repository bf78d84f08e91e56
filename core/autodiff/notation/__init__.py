"""What a step does, as mathematics, rendered from the operations that run.

`Notation` in `step_notation.py` is the door.
"""
