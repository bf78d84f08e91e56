"""Traces: what a program of another framework computed, as its exporter writes it (.gstrace).

`trace_file.py` is the door; `trace_schema.py` has the records as they stand in the file, and
`traced_document.py` makes a document of one. docs/trace-format.md describes the format.
"""
