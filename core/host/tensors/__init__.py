"""Tensors as they are looked at: slices of any size, in pieces of bounded memory.

`slice_syntax.py` reads `[0, :, ::2]`, `axis_layout.py` says which axes are rows and columns;
`tensor_answers.py` answers the window, with a module for each question. None copies a tensor, but
for the part of a difference that is looked at (`other_tensor.py`).
"""
