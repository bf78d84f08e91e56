"""Dialogs that interrupt: one module each; `dialog_base.py` is what they share."""
