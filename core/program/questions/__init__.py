"""What is asked of a document by name: what to run, what to differentiate, at which values.

`loaded_document.py` is what commands and scripts begin with.
"""
