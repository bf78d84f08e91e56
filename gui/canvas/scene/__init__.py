"""What is on the canvas and where: visible boxes and links as arrays, their routes and values.

`SceneModel` in `scene_model.py` is the door, `camera.py` says what of it is looked at. Nothing here
paints.
"""
