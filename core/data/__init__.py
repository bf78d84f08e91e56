"""Data from outside: texts, tables and files made into arrays, generators of TensorFlow's numbers.

`value_text.py` is the door: whatever a user writes, pastes or names in the place of a value.
"""
