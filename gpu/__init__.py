"""GPU and emulated devices; the only package that imports CuPy or PyTorch.

`Devices` in `devices.py` is the door; `compare.py` compares two of them node by node, `hazards.py`
says what could differ without one.
"""
