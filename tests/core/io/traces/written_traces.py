"""Traces written by hand: small graphs with what a framework computed of them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.io.native import npy


class WrittenTrace:
    """A trace of float32 weights, inputs and operations, one added after the other."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._inputs: list[dict[str, Any]] = []
        self._nodes: list[dict[str, Any]] = []

    def given(
        self, name: str, value: Any, gradient: Any = None, trained: bool | None = None
    ) -> None:
        """An input; a parameter, where `trained` says whether it was."""
        kind: dict[str, Any] = {"kind": "input"}
        if trained is not None:
            kind = {"kind": "parameter", "trained": trained}
        told = self._told("tensor", value, gradient)
        self._inputs.append({"name": name, **kind, **told})

    def node(
        self, name: str, op: str, args: Mapping[str, Any], value: Any, gradient: Any = None
    ) -> None:
        """args: names of tensors are texts that begin with an @."""
        told = [self._told("value", value, gradient)]
        given = {key: _argument(one) for key, one in args.items()}
        self._nodes.append({"name": name, "op": op, "args": given, "outputs": told})

    def packed(self, loss: str, **more: Any) -> bytes:
        """The bytes; the loss is the node of that name. more: parts of the record."""
        record = {
            "format": "gradstep-trace",
            "version": 1,
            "framework": {"name": "torch", "version": "9.9"},
            "inputs": self._inputs,
            "nodes": self._nodes,
            "outputs": [{"kind": "loss", "value": {"ref": loss}}],
            **more,
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("graph.json", json.dumps(record))
            for name, array in self._arrays.items():
                archive.writestr(name, npy.to_bytes(array))
        return buffer.getvalue()

    def _told(self, key: str, value: Any, gradient: Any) -> dict[str, Any]:
        array = np.asarray(value)
        array = array.astype(np.float32) if array.dtype.kind == "f" else array
        told: dict[str, Any] = {"dtype": array.dtype.name, "shape": [*array.shape]}
        told[key] = self._member(array)
        if gradient is not None:
            told["gradient"] = self._member(np.asarray(gradient, np.float32))
        return told

    def _member(self, array: np.ndarray) -> str:
        name = f"values/{len(self._arrays)}.npy"
        self._arrays[name] = array
        return name


def frozen() -> WrittenTrace:
    """loss = (a x) b, of which only b was trained."""
    trace = WrittenTrace()
    trace.given("x", [2.0])
    trace.given("fc.a", [5.0], trained=False)
    trace.given("fc.b", [3.0], [10.0], trained=True)
    trace.node("ax", "aten.mul.Tensor", {"self": "@x", "other": "@fc.a"}, [10.0])
    trace.node("loss", "aten.mul.Tensor", {"self": "@ax", "other": "@fc.b"}, [30.0], [1.0])
    return trace


def _argument(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("@"):
        return {"ref": value[1:]}
    return [_argument(one) for one in value] if isinstance(value, list) else value
