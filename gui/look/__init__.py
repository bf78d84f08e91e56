"""How the window looks: colours and fonts in `theme.py`, `icons.py`, numbers as text."""
