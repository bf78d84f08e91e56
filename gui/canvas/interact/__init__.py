"""What the mouse and the keys do with the canvas.

`mouse.py` chooses the gesture, `canvas_keys.py` has the keys.
"""
