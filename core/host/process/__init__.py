"""How the engine becomes a process, and how that ends with all that it started.

`supervisor.py` stands between window and engine; `engine_entry.py` runs before anything heavy.
"""
