"""The smallest graph that still shows what is wrong: a value, a gradient, a rule, a device.

`reduction_search.py` is the door; what is asked of every smaller graph `reduction_symptom.py` has,
the numbers that take the place of what is left out `values_read.py`, the documents themselves
`reduced_document.py`, and smaller tensors `smaller_tensors.py`.
"""
