"""From the user's document to the program that runs: its gradients, updates and functions.

`derive(document)` in `derive.py` is the door; `trust` says which Python may run, `sandbox` confines
it.
"""
