"""What the mouse and the keys do with the canvas.

`mouse.py` chooses the gesture, `canvas_keys.py` has the keys. Each part is given what it works on;
of Qt's view they know the scene's camera, for where things are, and `overlay.py`, for what lies
over them.
"""
