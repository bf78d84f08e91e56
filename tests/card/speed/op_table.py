"""The table of operations that a card is measured at: all rows, and a program of either side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.ops.build.builder import GraphBuilder
from tests.bench.ours import program
from tests.card.speed.device_plans import DevicePlan
from tests.card.speed.elementwise_rows import ELEMENTWISE_ROWS
from tests.card.speed.moving_rows import MOVING_ROWS
from tests.card.speed.op_row import OpRow
from tests.card.speed.product_rows import ROWS_OF_PRODUCTS
from tests.card.speed.reducing_rows import REDUCING_ROWS

OP_ROWS: dict[str, OpRow] = {
    row.name: row for row in (*ROWS_OF_PRODUCTS, *ELEMENTWISE_ROWS, *REDUCING_ROWS, *MOVING_ROWS)
}


@dataclass(frozen=True)
class OpProgram:
    """step: the operation, once. results: does it once, and gives what it made, on the host, as
    ours lies in memory."""

    step: Callable[[], object]
    results: Callable[[], list[np.ndarray]]


def ours(row: OpRow, backend: Backend) -> OpProgram:
    """The operation as the only one of a fast plan: its result has a place of its own."""
    build, arrays = GraphBuilder(), row.arrays()
    given = {
        name: (build.variable if name in row.variables else build.placeholder)(
            name, str(array.dtype), array.shape
        )
        for name, array in arrays.items()
    }
    made = [tensor.ref for tensor in row.ours(build, given)]
    graph = build.build()
    read = {ref.op for op in graph.operations.values() for ref in op.inputs}
    initial = {name: arrays[name] for name in row.variables}
    feeds = {n: x for n, x in arrays.items() if n in read and n not in initial}
    run = program(graph, made, (), feeds, initial, mode=DevicePlan(backend, "fast"))

    def results() -> list[np.ndarray]:
        run.step()
        return [run.read(ref) for ref in made]

    return OpProgram(run.step, results)


def torch(row: OpRow, on: str) -> OpProgram:
    """PyTorch's function: it makes its results anew each time."""
    import torch

    tensors = {name: torch.from_numpy(array).to(on) for name, array in row.arrays().items()}
    step = row.torch(torch, tensors)

    def results() -> list[np.ndarray]:
        made = step()
        parts: tuple[Any, ...] = made if isinstance(made, tuple) else (made,)
        return [np.asarray(row.back(part.detach()).cpu()) for part in parts]

    return OpProgram(step, results)
