"""Whether the stand-in for CuPy is one: what it takes, the device takes too, and gives the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.card.device import Device, open_device


def try_one(device: Device, task: str) -> dict[str, Any]:
    """task: "stand-in|cupy|". wrong: the calls of which that is not so. (It may refuse more.)"""
    fake, wrong = open_device("fake").xp, []
    with np.errstate(all="ignore"):
        for name, call in CALLS.items():
            ours, theirs = _outcome(fake, call), _outcome(device.xp, call)
            if not ours.startswith("raises") and ours != theirs:
                wrong.append([name, f"{ours} in its place, {theirs} on the device"[:200]])
    return {"verdict": "differs" if wrong else "ok", "wrong": wrong}


def _outcome(xp: Any, call: Callable[..., Any]) -> str:
    x = xp.asarray(np.array([10, 20, 30], np.float32))
    i = xp.asarray(np.array([0, 2], np.int32))
    try:
        found = xp.asnumpy(call(xp, x, i))
    except Exception as error:
        return f"raises {type(error).__name__}"
    return f"{type(found).__name__} {found.dtype} {found.tolist()}"


def _after(change: Callable[[Any], Any], made: Any) -> Any:
    change(made)
    return made


CALLS: dict[str, Callable[..., Any]] = {
    "x[i]": lambda xp, x, i: x[i],
    "x[i + 1]": lambda xp, x, i: x[i + 1],
    "take": lambda xp, x, i: xp.take(x, i),
    "take to a place": lambda xp, x, i: xp.take(x, i, out=xp.zeros(2, "float32")),
    "take outside": lambda xp, x, i: xp.take(x, i + 1),
    "take with a mode": lambda xp, x, i: xp.take(x, i, mode="wrap"),
    "x[i] = 5": lambda xp, x, i: _after(lambda y: y.__setitem__(i, 5), x),
    "x[NumPy]": lambda xp, x, i: x[np.array([0, 2])],
    "x[list]": lambda xp, x, i: x[[0, 2]],
    "x + NumPy": lambda xp, x, i: x + np.ones(3, np.float32),
    "x + list": lambda xp, x, i: xp.add(x, [1, 2, 3]),
    "sum is an array": lambda xp, x, i: x.reshape(3).T * xp.sum(x),
    "sum of where": lambda xp, x, i: xp.sum(x, where=x > 10),
    "max of initial": lambda xp, x, i: xp.max(x, initial=0),
    "add of where": lambda xp, x, i: xp.add(x, x, where=x > 10),
    "add.at float32": lambda xp, x, i: _after(lambda y: xp.add.at(y, i, xp.ones_like(y[:2])), x),
    "add.at int64": lambda xp, x, i: _after(
        lambda y: xp.add.at(y, i, xp.ones(2, "int64")), xp.zeros(3, "int64")
    ),
    "add.at int16": lambda xp, x, i: _after(
        lambda y: xp.add.at(y, i, xp.ones(2, "int16")), xp.zeros(3, "int16")
    ),
    "multiply.at": lambda xp, x, i: _after(lambda y: xp.multiply.at(y, i, x[:2]), x.copy()),
    "maximum.at": lambda xp, x, i: _after(lambda y: xp.maximum.at(y, i, x[:2]), x.copy()),
    "argsort stable": lambda xp, x, i: xp.argsort(x, kind="stable"),
    "argsort quicksort": lambda xp, x, i: xp.argsort(x, kind="quicksort"),
    "einsum out": lambda xp, x, i: xp.einsum("i,i->", x, x, out=xp.zeros((), "float32")),
    "text": lambda xp, x, i: xp.asarray(np.array(["a"], object)),
    "cumsum": lambda xp, x, i: xp.cumsum(x),
    "clip": lambda xp, x, i: xp.clip(x, 15, 25),
    "pad": lambda xp, x, i: xp.pad(x, 1),
    "searchsorted": lambda xp, x, i: xp.searchsorted(x, x, side="right"),
    "bincount": lambda xp, x, i: xp.bincount(i),
    "unique": lambda xp, x, i: xp.unique(i),
    "where of one": lambda xp, x, i: xp.argwhere(x > 10),
    # Of more elements than a warp has threads, and than a block has.
    "cumsum of many": lambda xp, x, i: xp.cumsum(xp.arange(2000) % 7),
    "masked of many": lambda xp, x, i: xp.arange(2000)[xp.arange(2000) % 7 > 2],
    "unique of many": lambda xp, x, i: xp.unique(xp.arange(2000) % 77),
}
