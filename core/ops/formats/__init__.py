"""Bytes that operations write: `protobuf.py` for summaries, `png.py`, `element_text.py`."""
