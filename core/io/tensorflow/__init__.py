"""TensorFlow's GraphDefs and checkpoints, read and written without TensorFlow.

`graphdef_import.py` and `graphdef_export.py` are the doors for graphs, `tensor_bundle.py` and
`bundle_writer.py` those for checkpoints.
"""
