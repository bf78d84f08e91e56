"""W8, the gradient of an embedding: 4,096 rows, many of them the same, of 50,000 by 64."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.program import Program, host, weighted
from tests.bench.small_sizes import sized

RATES = {"check": 0.0, "time": 0.0}  # nothing is trained
ROWS, WIDTH, COUNT = sized(50_000, 500), 64, sized(4096, 64)

_random = np.random.default_rng(8)
TABLE = _random.standard_normal((ROWS, WIDTH)).astype(np.float32)
# As words are: few of them often.
INDICES = (_random.zipf(1.3, COUNT * 2) - 1).astype(np.int64)
INDICES = INDICES[INDICES < ROWS][:COUNT].astype(np.int32)
GRADIENT = _random.standard_normal((COUNT, WIDTH)).astype(np.float32)


def _dense(indices: Any, values: Any) -> dict[str, float]:
    """The rows in their places in the table: in whatever order they came, and however often."""
    whole = np.zeros(TABLE.shape)
    np.add.at(whole, np.asarray(host(indices)), np.asarray(host(values), np.float64))
    return {"gradient": weighted(whole)}


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.autodiff.reverse.tf_gradients import gradients
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder
    from gradstep.core.ops.build.indexed_slices import IndexedSlices
    from gradstep.core.train.unique_rows import sum_duplicate_rows
    from tests.bench.ours import program

    build = GraphBuilder()
    table = build.variable("table", "float32", TABLE.shape)
    indices = build.placeholder("indices", "int32", INDICES.shape)
    arriving = build.placeholder("arriving", "float32", GRADIENT.shape)
    (rows,) = gradients(tf.gather(table, indices), [table], grad_ys=[arriving])
    assert isinstance(rows, IndexedSlices)
    unique = sum_duplicate_rows(rows)
    feeds = {"indices": INDICES, "arriving": GRADIENT}
    fetches = [unique.indices.ref, unique.values.ref]
    run = program(build.build(), fetches, (), feeds, {"table": TABLE}, **how)
    return Program(
        run.step,
        lambda: _dense(*map(run.read, fetches)),
        facts={"calls": str(run.calls)},
    )


def torch(rate: float) -> Program:
    import torch
    from torch.nn.functional import embedding

    from tests.bench.torch_inputs import refilling

    table = torch.tensor(TABLE, requires_grad=True)
    indices, arriving = torch.tensor(INDICES).long(), torch.tensor(GRADIENT)
    taken = embedding(indices, table)
    last: list[Any] = [None]

    def step() -> None:
        last[:] = torch.autograd.grad(taken, table, arriving, retain_graph=True)

    feed = refilling((indices, INDICES.astype(np.int64)), (arriving, GRADIENT))
    return Program(step, lambda: {"gradient": weighted(last[0])}, feed=feed)


def torch_coalesced(rate: float) -> Program:
    import torch
    from torch.nn.functional import embedding

    table = torch.tensor(TABLE, requires_grad=True)
    indices, arriving = torch.tensor(INDICES).long(), torch.tensor(GRADIENT)
    taken = embedding(indices, table, sparse=True)
    last: list[Any] = [None]

    def step() -> None:
        (grad,) = torch.autograd.grad(taken, table, arriving, retain_graph=True)
        last[0] = grad.coalesce()

    return Program(step, lambda: _dense(last[0].indices()[0], last[0].values()))
