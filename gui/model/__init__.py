"""What every view reads: the workspace, the debugger beside it, the files and the engine.

`Workspace` in `workspace.py` is the door; `number_text.py` has its numbers as text.
"""
