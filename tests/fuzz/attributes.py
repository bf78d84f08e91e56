"""Attributes and tensors as a document's records hold them, mostly out of place."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.fuzz import odd

Tree = dict[str, Any]

NAMES = (
    *("T", "dtype", "shape", "value", "N", "axis", "keep_dims", "Tidx", "out_type", "DstT", "SrcT"),
    *("padding", "strides", "data_format", "token", "Tin", "Tout", "_gradient_op_type", "_class"),
    *("component_types", "shapes", "capacity", "shared_name", "container", "loop", "tensor"),
    *("frame_name", "is_constant", "parallel_iterations", "ref", "begin_mask", "num", "message"),
)  # fmt: skip


def attribute(dice: Random, names: list[str], depth: int = 0) -> Any:
    """A value of any kind that attributes have."""
    return dice.choice(_KINDS if depth < 2 else _PLAIN)(dice, names, depth)


def _real(dice: Random, names: list[str], depth: int) -> Any:
    if dice.random() < 0.2:
        return {"kind": "float", "value": dice.choice(odd.NOT_FINITE)}
    return float(odd.number(dice))


def _list(dice: Random, names: list[str], depth: int) -> Any:
    items = [attribute(dice, names, depth + 1) for _ in range(dice.randrange(4))]
    return {"kind": "list", "value": items}


def _bytes(dice: Random, names: list[str], depth: int) -> Any:
    return {"kind": "bytes", "value": dice.choice(("", "AAAA", "gICA", "!!", "AP8="))}


def _unread(dice: Random, names: list[str], depth: int) -> Any:
    return {"kind": "unread", "value": "AAAA", "why": "odd", "hint": odd.text(dice, names)}


def _loop(dice: Random, names: list[str], depth: int) -> Any:
    """A loop of a few operations, with as many of everything as happens to be."""
    inner = [f"l{i}" for i in range(dice.randrange(1, 5))]
    operations = [
        {
            "name": name,
            "type": dice.choice(("_Arg", "_Arg", "LoopCond", "Add", "Less", "Switch", "Identity")),
            "inputs": [
                dice.choice((None, f"{dice.choice(inner)}:0")) for _ in range(dice.randrange(3))
            ],
            "attrs": {"T": {"kind": "type", "value": dice.choice(odd.DTYPES)}},
        }
        for name in inner
    ]
    for op in operations:
        if op["type"] == "_Arg":
            op["inputs"] = []
    arguments = [op["name"] for op in operations if op["type"] == "_Arg"]
    split = dice.randrange(len(arguments) + 1)
    variables = arguments[:split]
    return {
        "kind": "loop",
        "operations": operations,
        "variables": variables,
        "captures": arguments[split:],
        "cond": f"{dice.choice(inner)}:0",
        "results": [f"{dice.choice(inner)}:0" for _ in variables],
    }


def tensor(dice: Random) -> Tree:
    """A tensor record: mostly one whose data fits its shape and type."""
    dtype = dice.choice(odd.DTYPES if dice.random() < 0.5 else ("float32", "int32"))
    dims = [dice.choice((0, 1, 1, 2, 2, 3)) for _ in range(dice.randrange(4))]
    record: Tree = {"dtype": dtype, "shape": dims, "data": _data(dice, dtype, dims)}
    if dice.random() < 0.1:
        record["shape"] = odd.shape(dice)
    if dice.random() < 0.05:
        record.pop("data")
        record["file"] = dice.choice(("tensors/none.npy", "document.json", ""))
    return record


def _data(dice: Random, dtype: str, dims: list[int]) -> Any:
    if dims:
        return [_data(dice, dtype, dims[1:]) for _ in range(dims[0])]
    if dtype == "string":
        return odd.text(dice, [])
    if dtype == "bool":
        return dice.random() < 0.5
    if "int" in dtype:
        return dice.choice((0, 1, 2, 3, -1, 100, odd.whole(dice)))
    real = dice.choice(odd.NOT_FINITE) if dice.random() < 0.1 else float(odd.number(dice))
    return [real, 1.0] if dtype.startswith("complex") else real


_Maker = Callable[[Random, list[str], int], Any]
_PLAIN: tuple[_Maker, ...] = (
    lambda dice, names, depth: dice.random() < 0.5,
    lambda dice, names, depth: odd.whole(dice),
    lambda dice, names, depth: odd.text(dice, names),
    lambda dice, names, depth: {"kind": "type", "value": dice.choice(odd.DTYPES)},
    lambda dice, names, depth: {"kind": "shape", "value": odd.shape(dice)},
    lambda dice, names, depth: {"kind": "tensor", "value": tensor(dice)},
    *(_real, _bytes, _unread),
)
_KINDS = (*_PLAIN, _list, _loop)
