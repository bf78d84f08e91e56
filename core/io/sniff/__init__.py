"""What a file is, told from a few of its bytes.

`file_kinds.py` is the door.
"""
