"""How all of the window looks: colours and fonts in `theme.py`, drawings in `icons.py`.

Nothing here knows what is shown.
"""
