"""What may go wrong on a card: its memory runs out, and its context is lost for good."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.calls.op_evaluation import locate_error, run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gpu.compare import compare
from tests.card.device import Device

_ROOM = 8 << 20  # bytes: half of what the one large node wants


def try_one(device: Device, task: str) -> dict[str, Any]:
    """task: "memory|cupy|" or "assert|cupy|"."""
    return _out_of_memory(device) if task.startswith("memory") else _lost(device)


def _out_of_memory(device: Device) -> dict[str, Any]:
    """The error is at the node, nothing before it suffers, and the process goes on."""
    device.limit(_ROOM)
    try:
        found = compare(_large(), NumpyBackend(), device.backend())
    finally:
        device.limit(0)
    sides = {node.name: [node.right.status, node.right.text[:200]] for node in found.nodes}
    told = sides["big"][0] == "raised" and "not enough memory" in sides["big"][1]
    fine = sides["column"][0] == "ok" and _adds(device)
    return {"verdict": "ok" if told and fine else "differs", "sides": sides}


def _large() -> Program:
    b = GraphBuilder()
    x = b.placeholder("x", DType.FLOAT32, (100,))
    column = b.one("ExpandDims", x, 1, name="column")
    big = b.one("Tile", column, np.array([1, 40000], np.int32), name="big")
    b.one("Sum", big, np.array([0, 1], np.int32), name="loss")
    graph = b.build()
    feeds = {TensorRef("x"): np.ones(100, np.float32)}
    return Program(graph=graph, forward=graph, fetches=(TensorRef("loss"),), feeds=feeds)


def _lost(device: Device) -> dict[str, Any]:
    """What is said, at which node, once the context is lost. This process is of no use after."""
    adds = _adds(device)
    try:
        device.trap()
        _adds(device)
    except GradstepError as error:
        told = error.kind == "InternalError" and error.node == "it" and "restart" in error.hint
        said = f"{error.kind} at {error.node}: {error.message} ({error.hint})"
        return {"verdict": "ok" if adds and told else "differs", "text": said[:400], "lost": "yes"}
    return {"verdict": "differs", "text": "the trap was not noticed", "lost": "yes"}


def _adds(device: Device) -> bool:
    """Whether the backend computes 1 + 2 as it should. Raises what users would be told."""
    b, backend = GraphBuilder(), device.backend()
    x, y = (b.placeholder(name, DType.FLOAT32, (1,)) for name in "xy")
    b.one("AddV2", x, y, name="it")
    operation = b.operation("it")
    try:
        given = [backend.put(np.full(1, v, np.float32)) for v in (1, 2)]
        return bool(backend.get(run_op(backend, operation, given)[0])[0] == 3)
    except RuntimeError as error:  # on the way there or back
        raise locate_error(error, operation, backend) from error
