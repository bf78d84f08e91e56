"""The debugger's console: a line of text in, what happened out.

`Console` in `console.py` is the door; it knows no terminal.
"""
