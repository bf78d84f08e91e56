"""Gradstep's own file: a document as a zip of readable parts.

`gradstep_file.py` is the door; `file_schema.py` has the records as they stand in the file.
"""
