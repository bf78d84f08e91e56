"""Files on a disk: replaced at once or not at all, locked, claimed, weighed before read.

`replace_file` in `atomic_write.py` writes, `RegularFile` in `regular_file.py` reads.
"""
