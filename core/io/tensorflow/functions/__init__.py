"""Functions of GraphDefs inlined: calls, conds, loops; what is left knows no functions.

`inlined_functions.py` is the door. Conds become Switches and Merges and loops frames, as TensorFlow
itself lowers them; what reads those of TensorFlow 1 reads these.
"""
