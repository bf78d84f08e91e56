"""How the engine becomes a process, and how that ends with all that it started.

`supervisor.py` stands between window and engine; `process_setup.py` runs before anything heavy.
"""
