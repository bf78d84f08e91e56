"""The real window used without a hand: keys, clicks, pictures.

`Driver` in `driver.py` does it; `shot.py` and `tour.py` are the commands that use it.
"""
