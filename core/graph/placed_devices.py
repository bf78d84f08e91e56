"""Devices that operations are placed on, as a NodeDef's `device` field has them.

TensorFlow's own types, as in `/device:GPU:0`, are wishes of the program that made the graph: they
are kept, and not followed. A device of this program has a type of its own there, which TensorFlow
reads as one that it does not have: `torch:cpu` is `/device:TORCH_CPU:0`, `emulate:tf-gpu` is
`/device:EMULATE_TF__GPU:0`.
"""

from __future__ import annotations

import re
from functools import cache

from gradstep.core.graph.model import Operation

_SPEC = re.compile(r"/device:([A-Z][A-Z0-9_]*):0")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[:_-][a-z0-9]+)*")
_SIGNS = {":": "_", "-": "__", "_": "___"}
_OWN = {"cpu": "NUMPY", "gpu": "CUPY"}  # which would be TensorFlow's
_THEIRS = ("CPU", "GPU", "TPU", "XLA_CPU", "XLA_GPU", "XLA_TPU", "CUSTOM")


def device_spec(name: str) -> str:
    """What the field holds for a device of this program; "" for none. Raises ValueError for what is
    no name of one."""
    if not name:
        return ""
    if not _NAME.fullmatch(name):
        raise ValueError(f"'{name}' is no name of a device")
    kind, sign, rest = name.partition(":")
    words = f"{_OWN.get(kind, kind)}{sign}{rest}"
    return f"/device:{''.join(_SIGNS.get(letter, letter.upper()) for letter in words)}:0"


@cache
def device_of(spec: str) -> str:
    """The device of this program that a field names; "" where it names none, or one of
    TensorFlow's."""
    found = _SPEC.fullmatch(spec)
    if found is None or found[1] in _THEIRS:
        return ""
    signs = {written: sign for sign, written in _SIGNS.items()}
    text = re.sub(r"_+", lambda run: signs.get(run[0], "?"), found[1]).lower()
    kind, sign, rest = text.partition(":")
    own = {written.lower(): name for name, written in _OWN.items()}
    name = f"{own.get(kind, kind)}{sign}{rest}"
    return name if _NAME.fullmatch(name) else ""


def placed_on(op: Operation) -> str:
    """The device of this program that an operation is placed on; "" for that of the run."""
    return device_of(op.device) if op.device else ""
