"""TensorFlow's GraphDefs, read and written without TensorFlow.

`graphdef_import.py` and `graphdef_export.py` are the doors.
"""
