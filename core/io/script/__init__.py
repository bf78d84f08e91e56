"""A document as a Python script for TensorFlow 1.

`python_script.py` is the door; the others write loops, conds, optimizers, threads.
"""
