"""The graph doctor: what is probably wrong with a document, said before anybody asks.

`diagnose` in `diagnosis.py` is the door, `lint_table.py` lists what it looks for: one record a
lint. A lint looks at an `Examined`, of a graph alone or with the runs that are recorded.
"""
