"""Ops that make, cut, join, index arrays: `concat.py`, `gather.py`, `reshape.py`, `split.py`…"""
