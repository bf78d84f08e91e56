"""Behind the names of `import gradstep`: documents and the debugger in scripts and notebooks.

`opening.py` opens, `debugger.py` steps, `graph_picture.py` draws.
"""
