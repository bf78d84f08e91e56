"""What a file is, told from a few of its bytes: signs that formats are known by.

`file_signatures.py` has the signs, `file_sample.py` the bytes that are looked at.
"""
