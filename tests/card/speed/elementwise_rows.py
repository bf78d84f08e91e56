"""Operations on each element by itself, steps of optimizers and gates of an LSTM among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.bench.small_sizes import sized
from tests.card.speed.op_row import SIDE, Arrays, OpRow, Peer, numbers, signed

COUNT = sized(1 << 24, 1 << 10)
CELLS, UNITS = sized(1024, 4), sized(512, 8)
_RATE = 1e-3
Tensors = Mapping[str, Tensor]


def _unary(type: str, peer: Callable[[Any, Any], Any]) -> OpRow:
    return OpRow(
        type,
        f"{COUNT:,} numbers",
        lambda: {"x": signed("x", COUNT) if type in _SIGNED else numbers("x", COUNT)},
        lambda build, t: build.op(type, t["x"]),
        lambda torch, t: lambda: peer(torch, t["x"]),
        nbytes=8.0 * COUNT,
    )


_SIGNED = ("Exp", "Tanh", "Sigmoid", "Erf", "Relu")


def _binary(type: str, peer: Callable[[Any, Any, Any], Any]) -> OpRow:
    return OpRow(
        type,
        f"{COUNT:,} numbers",
        lambda: {"a": numbers("a", COUNT), "b": numbers("b", COUNT)},
        lambda build, t: build.op(type, t["a"], t["b"]),
        lambda torch, t: lambda: peer(torch, t["a"], t["b"]),
        nbytes=12.0 * COUNT,
    )


def _adam_arrays() -> Arrays:
    zeros = {name: np.zeros(COUNT, np.float32) for name in ("m", "v")}
    return {"var": signed("var", COUNT), **zeros, "grad": signed("grad", COUNT)}


def _adam(build: GraphBuilder, t: Tensors) -> Sequence[Tensor]:
    settings = [build.constant(np.float32(x)) for x in (0.9, 0.999, _RATE, 0.9, 0.999, 1e-8)]
    return build.op("ApplyAdam", t["var"], t["m"], t["v"], *settings, t["grad"])


def _torch_adam(torch: Any, t: Mapping[str, Any]) -> Peer:
    value = torch.nn.Parameter(t["var"])
    value.grad = t["grad"]
    adam = torch.optim.Adam([value], lr=_RATE, fused=True)

    def step() -> Any:
        adam.step()
        return value.detach()

    return step


def _descent(build: GraphBuilder, t: Tensors) -> Sequence[Tensor]:
    rate = build.constant(np.float32(_RATE))
    return build.op("ApplyGradientDescent", t["var"], rate, t["grad"])


def _gates(build: GraphBuilder, t: Tensors) -> Sequence[Tensor]:
    i, f, g, o = tf.split(t["gates"], 4, axis=1)
    c = tf.sigmoid(f) * t["c"] + tf.sigmoid(i) * tf.tanh(g)
    return [tf.sigmoid(o) * tf.tanh(c), c]


def _torch_gates(torch: Any, t: Mapping[str, Any]) -> Peer:
    def step() -> Any:
        i, f, g, o = t["gates"].chunk(4, 1)
        c = torch.sigmoid(f) * t["c"] + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    return step


ELEMENTWISE_ROWS = (
    _binary("AddV2", lambda torch, a, b: a + b),
    _binary("Mul", lambda torch, a, b: a * b),
    _binary("Pow", lambda torch, a, b: a**b),
    _binary("ReluGrad", lambda torch, a, b: torch.ops.aten.threshold_backward(a, b, 0)),
    _unary("Exp", lambda torch, x: torch.exp(x)),
    _unary("Log", lambda torch, x: torch.log(x)),
    _unary("Tanh", lambda torch, x: torch.tanh(x)),
    _unary("Sigmoid", lambda torch, x: torch.sigmoid(x)),
    _unary("Erf", lambda torch, x: torch.erf(x)),
    _unary("Rsqrt", lambda torch, x: torch.rsqrt(x)),
    _unary("Relu", lambda torch, x: torch.relu(x)),
    OpRow(
        "AddV2 of a row",
        f"{SIDE}×{SIDE}, {SIDE}",
        lambda: {"a": numbers("a", SIDE, SIDE), "b": numbers("b", SIDE)},
        lambda build, t: build.op("AddV2", t["a"], t["b"]),
        lambda torch, t: lambda: t["a"] + t["b"],
        nbytes=8.0 * SIDE * SIDE,
    ),
    OpRow(
        "SelectV2",
        f"{COUNT:,} numbers",
        lambda: {"a": signed("a", COUNT), "b": signed("b", COUNT), "where": signed("w", COUNT) > 0},
        lambda build, t: build.op("SelectV2", t["where"], t["a"], t["b"]),
        lambda torch, t: lambda: torch.where(t["where"], t["a"], t["b"]),
        nbytes=13.0 * COUNT,
    ),
    OpRow(
        "Cast to float16",
        f"{COUNT:,} numbers",
        lambda: {"x": signed("x", COUNT)},
        lambda build, t: [tf.cast(t["x"], "float16")],
        lambda torch, t: lambda: t["x"].to(torch.float16),
        nbytes=6.0 * COUNT,
    ),
    OpRow(
        "ApplyAdam",
        f"{COUNT:,} numbers",
        _adam_arrays,
        _adam,
        _torch_adam,
        variables=("var", "m", "v"),
        nbytes=28.0 * COUNT,
    ),
    OpRow(
        "ApplyGradientDescent",
        f"{COUNT:,} numbers",
        lambda: {"var": signed("var", COUNT), "grad": signed("grad", COUNT)},
        _descent,
        lambda torch, t: lambda: t["var"].add_(t["grad"], alpha=-_RATE),
        variables=("var",),
        nbytes=12.0 * COUNT,
    ),
    OpRow(
        "gates of an LSTM",
        f"{CELLS} of {UNITS} units",
        lambda: {"gates": signed("gates", CELLS, 4 * UNITS), "c": signed("c", CELLS, UNITS)},
        _gates,
        _torch_gates,
        nbytes=28.0 * CELLS * UNITS,
    ),
)
