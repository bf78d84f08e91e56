"""NumPy, CuPy, PyTorch and JAX by themselves: what a recording asks what they do."""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

NAMES = ("numpy", "cupy", "torch", "jax")


@dataclass(frozen=True)
class Library:
    """on: the device that its arrays are on. put, get: a host array there and back; getting waits.
    sync: raises what went wrong on the device and was not heard of yet."""

    name: str
    on: str
    xp: Any
    put: Callable[[np.ndarray], Any]
    get: Callable[[Any], np.ndarray]
    sync: Callable[[], Any]


@cache
def open_library(name: str, device: str) -> Library:
    """device: of tests.card.device.KINDS, for CuPy. Raises ImportError where it is not there."""
    return {"numpy": _numpy, "cupy": _cupy, "torch": _torch, "jax": _jax}[name](device)


def tried(library: Library, run: Callable[[], Any]) -> dict[str, Any]:
    """What `run` gives, or how it fails; lost: whether the device answers no more after it."""
    try:
        made = run()
        parts = made if isinstance(made, tuple | list) else (made,)
        return {"on": library.on, "values": [packed(library.get(part)) for part in parts]}
    except Exception as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    found: dict[str, Any] = {"on": library.on, "raised": said}
    try:
        library.sync()
    except Exception as error:
        found["lost"] = type(error).__name__
    return found


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array as JSON can carry it, to the last bit."""
    array = np.asarray(array, order="C")
    data = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def unpacked(value: dict[str, Any]) -> np.ndarray:
    data = zlib.decompress(base64.b64decode(value["data"]))
    return np.frombuffer(data, value["dtype"]).reshape(value["shape"])


def names(row: str, which: Sequence[str] = NAMES) -> list[str]:
    """The tasks of one row, a library each; row: "KIND|…"."""
    kind, _, rest = row.partition("|")
    return [f"{kind}|{name}|{rest}" for name in which]


def _numpy(device: str) -> Library:
    return Library("numpy", "cpu", np, np.array, np.asarray, lambda: None)


def _cupy(device: str) -> Library:
    from tests.card.device import open_device

    found = open_device(device)
    return Library("cupy", found.name, found.xp, found.xp.asarray, found.xp.asnumpy, found.sync)


def _torch(device: str) -> Library:
    import torch

    on = "cuda" if device == "card" and torch.cuda.is_available() else "cpu"
    return Library(
        "torch",
        torch.cuda.get_device_name() if on == "cuda" else on,
        torch,
        lambda array: torch.from_numpy(np.array(array)).to(on),
        lambda tensor: torch.as_tensor(tensor).detach().cpu().numpy(),
        torch.cuda.synchronize if on == "cuda" else lambda: None,
    )


def _jax(device: str) -> Library:
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # it would take most of the card
    if device != "card":
        os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    jax.config.update("jax_enable_x64", True)
    on = str(jax.devices()[0].device_kind)
    return Library("jax", on, jax.numpy, jax.numpy.asarray, np.asarray, lambda: None)
