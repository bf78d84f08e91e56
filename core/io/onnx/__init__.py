"""ONNX's files, read without ONNX: a model as a foreign graph, and that as a document.

`from_onnx` in `onnx_document.py` is the door.
"""
