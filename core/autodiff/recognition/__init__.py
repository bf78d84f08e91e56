"""Gradients that an imported graph holds already, found among its operations.

`answer_request` in `recognised_gradients.py` is the door: a request, answered with those gradients
as if they had been derived here.
"""
