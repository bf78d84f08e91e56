"""Dialogs that interrupt."""
