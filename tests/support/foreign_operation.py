"""One operation of another framework by itself: lowered, run, differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.traces.traced_document import tables
from gradstep.core.lowering.foreign_graph import (
    ForeignGraph,
    ForeignInput,
    ForeignNode,
    ForeignRef,
    ForeignResult,
    ForeignTensor,
)
from gradstep.core.lowering.lowered_graph import Lowered, lower

MADE = "made"


def lowered(
    op: str, given: dict[str, np.ndarray], *outs: np.ndarray, kind: str = "input", **args: Any
) -> Lowered:
    """Its arguments are inputs of that kind, but for those that `args` has: in lists, or in place
    of numbers. outs: of what types its results are, and what was recorded."""
    inputs = tuple(
        ForeignInput(name, kind, ForeignTensor(str(x.dtype), x.shape, x))
        for name, x in given.items()
    )
    listed = [ref for value in args.values() if isinstance(value, list) for ref in value
              if isinstance(ref, ForeignRef)]  # fmt: skip
    own = {name: ForeignRef(name) for name in given if ForeignRef(name) not in listed}
    told = tuple(ForeignTensor(str(out.dtype), out.shape, out) for out in outs)
    node = ForeignNode(MADE, op, {**own, **args}, told)
    result = ForeignResult("output", ForeignRef(MADE))
    return lower(ForeignGraph("jax", "one", inputs, (node,), (result,)), tables)


def computed(
    op: str, given: dict[str, np.ndarray], *outs: np.ndarray, **args: Any
) -> list[np.ndarray]:
    """What it gives."""
    done = lowered(op, given, *outs, **args)
    assert not done.unlowered, done.unlowered
    feeds = {str(done.tensors[ForeignRef(name)]): x for name, x in given.items()}
    refs = [done.tensors[ForeignRef(MADE, i)] for i in range(len(outs))]
    return Session(done.graph).run(refs, feeds)


def slope(
    op: str, given: dict[str, np.ndarray], out: np.ndarray, by: str, **args: Any
) -> np.ndarray:
    """The gradient of the sum of what it gives, by one of its inputs."""
    done = lowered(op, given, out, **args)
    assert not done.unlowered, done.unlowered
    of, wrt = done.tensors[ForeignRef(MADE)], done.tensors[ForeignRef(by)]
    derived = differentiate(done.graph, GradientRequest(of=(of,), wrt=(wrt,)))
    gradient = derived.gradients[wrt]
    assert gradient is not None
    feeds = {str(done.tensors[ForeignRef(name)]): x for name, x in given.items()}
    [found] = Session(derived.graph).run([gradient], feeds)
    return found
