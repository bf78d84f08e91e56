"""Classes: what a classifier gets wrong.

`classes_panel.py` is the panel: `class_matrix.py` says which classes are taken for which, and
`worst_pictures.py` or `worst_table.py` shows the rows with the largest loss.
"""
