"""The records of all formats: one module a format, or a family of them, each with its `FORMATS`.

format_table.py finds every module in here by itself.
"""
