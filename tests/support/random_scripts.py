"""Random lists of instructions with state, on matrices of one size.

They meet each other in every way there is: one tensor twice, views of views, aliases of variables,
values that are read after they were overwritten, updates and failures between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.layouts import Case
from tests.support.random_networks import ODD

FUNCTIONS = {"same": lambda x: np.array(x), "reversed": lambda x: x[..., ::-1]}
UNARY = ("Tanh", "Neg", "Exp", "Square", "Identity", "Floor", "Relu", "Log", "ZerosLike", "Sign")
BINARY = ("AddV2", "Mul", "Sub", "RealDiv", "Maximum", "Minimum", "ReluGrad", "TanhGrad", "Pow")
VIEWS = ("Transpose", "Reshape", "ExpandDims", "Squeeze", "Slice", "StopGradient")
SHAPED = ("MatMul", "Sum", "ConcatV2", "BiasAdd", "Softmax", "AddN", "Split", "Pack")
UPDATES = ("Assign", "AssignAdd", "AssignSub", "ScatterUpdate", "ScatterAdd", "Count")
OTHERS = ("PyFunc", "RandomUniform", "GatherV2", "Where", "Const", "CheckNumerics")
PLAIN = (*UNARY, *BINARY, *VIEWS, *SHAPED, *UPDATES[:-1], *OTHERS)
EVERYTHING = (*PLAIN, "Count", "cond")
SIZE = 3

instructions = st.lists(
    st.tuples(
        st.sampled_from(EVERYTHING), st.integers(0, 40), st.integers(0, 40), st.integers(0, 3)
    ),
    min_size=1,
    max_size=20,
)


@dataclass
class Making:
    """The graph of a list of instructions. Everything is a matrix of SIZE by SIZE."""

    build: GraphBuilder = field(default_factory=GraphBuilder)
    values: list[Tensor] = field(default_factory=list)
    updates: list[str] = field(default_factory=list)

    def variables(self) -> None:
        shape = (SIZE, SIZE)
        self.build.variable("v", shape=shape)
        kind = {"dtype": DType.FLOAT32, "shape": Shape(shape)}
        self.handle = self.build.one("VarHandleOp", name="r", **kind)
        self.values = [
            self.build.placeholder("x", shape=shape),
            self.build.constant(_start(7) * 3),
            self.build.get("v:0"),
            self.read(),
        ]

    def read(self) -> Tensor:
        return self.build.one("ReadVariableOp", self.handle, dtype=DType.FLOAT32)

    def add(self, type: str, i: int, j: int, waiting: int) -> None:
        """One instruction; bit 1 of waiting: after all updates so far."""
        x, y = (self.values[n % len(self.values)] for n in (i, j))
        with self.build.control_dependencies(self.updates if waiting & 1 else []):
            made = _RULES[type](self, type, x, y, j) if type in _RULES else None
            if made is None:
                made = [self.build.one(type, x, *([y] if type in BINARY else []))]
        self.values += made

    def updated(self, name: str) -> None:
        self.updates.append(name)


def _start(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(SIZE, SIZE)).astype(np.float32)


def _transpose(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    return [making.build.one("Transpose", x, np.array([1, 0], np.int32))]


def _reshaped(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """To a vector and back, with work in between or none."""
    flat = making.build.one("Reshape", x, np.array([-1], np.int32))
    flat = making.build.one("Neg", flat) if j % 2 else flat
    return [making.build.one("Reshape", flat, np.array([SIZE, SIZE], np.int32))]


def _expanded(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    wide = making.build.one("ExpandDims", x, np.array(j % 3, np.int32))
    return [making.build.one("Squeeze", wide, squeeze_dims=(j % 3,))]


def _slice(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """A row of one taken from all rows of the other."""
    begin, size = np.array([j % SIZE, 0], np.int32), np.array([1, SIZE], np.int32)
    return [making.build.one("Sub", y, making.build.one("Slice", x, begin, size))]


def _matmul(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    how = {"transpose_a": bool(j & 1), "transpose_b": bool(j & 2)}
    return [making.build.one("MatMul", x, y, **how)]


def _sum(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    axis = np.array([j % 2], np.int32)
    return [making.build.one("Mul", making.build.one("Sum", x, axis, keep_dims=True), y)]


def _joined(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    build, axis = making.build, j % 2
    both = build.one("ConcatV2", x, y, np.array(axis, np.int32))
    size = np.array([SIZE, SIZE], np.int32)
    begin = np.array([1, 0] if axis == 0 else [0, 1], np.int32)
    return [build.one("Slice", both, begin, size)]


def _bias(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    row = making.build.one("Mean", y, np.array([j % 2], np.int32))
    return [making.build.one("BiasAdd", x, row)]


def _sum_of_many(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    return [making.build.one("AddN", *[x, y, x][: 1 + j % 3])]


def _split(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """Rows, each by itself, put together in another order."""
    axis = np.array(0, np.int32)
    rows = making.build.op("Split", axis, x, num_split=SIZE)
    return [making.build.one("ConcatV2", rows[1], rows[0], rows[j % SIZE], axis)]


def _packed(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    both = making.build.one("Pack", x, y, axis=j % 3)
    return [*making.build.op("Unpack", both, num=2, axis=j % 3)]


def _assign(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """To the ref variable, which the result stands for; or to the other, which is read then."""
    if j % 2:
        made = making.build.one(type, making.build.get("v:0"), x)
        making.updated(made.ref.op)
        return [made]
    resource = {"Assign": "AssignVariableOp"}.get(type, f"{type}VariableOp")
    making.build.op(resource, making.handle, x, name="update", dtype=DType.FLOAT32)
    name = making.build.latest(1)[0].name
    making.updated(name)
    with making.build.control_dependencies([name]):
        return [making.read()]


def _scatter(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    rows = np.array([0, j % SIZE], np.int32)
    taken = making.build.one("GatherV2", x, rows, np.array(0, np.int32))
    made = making.build.one(type, making.build.get("v:0"), rows, taken)
    making.updated(made.ref.op)
    return [made]


def _count(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """A variable of its own, used at once and again."""
    if not making.build.has("n"):
        making.build.variable("n")
    made = making.build.one("AssignAdd", making.build.get("n:0"), 1.5)
    making.updated(made.ref.op)
    return [making.build.one("Mul", x, made)]


def _function(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """Of its result's shape nothing is known before running; of what follows, again."""
    floats, token = (DType.FLOAT32,), ("same", "reversed")[j % 2]
    made = making.build.one("PyFunc", x, token=token, Tin=floats, Tout=floats)
    made = making.build.one("Tanh", made) if j % 3 == 0 else made
    return [making.build.one("Reshape", made, np.array([SIZE, SIZE], np.int32))]


def _random(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    shape = np.array([SIZE, SIZE], np.int32)
    made = making.build.one("RandomUniform", shape, dtype=DType.FLOAT32, seed=j, seed2=1)
    return [making.build.one("Mul", made, x)]


def _gather(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    index = making.build.constant(np.array([0, j % SIZE, 2], np.int32))
    return [making.build.one("GatherV2", x, index, np.array(0, np.int32))]


def _checked(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """Fails where there is a NaN or an infinity."""
    made = making.build.one(type, x, message="odd")
    making.updated(made.ref.op)
    return [made]


def _where(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    mask = making.build.one("Greater", x, y)
    if j % 2:
        return [making.build.one("Select", mask, y, x)]
    found = making.build.one("Where", mask)  # as many as there are
    count = making.build.one("Size", found)
    return [making.build.one("Mul", x, making.build.one("Cast", count, DstT=DType.FLOAT32))]


def _constant(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    return [making.build.constant(np.full((SIZE, SIZE), ODD[j % len(ODD)], np.float32))]


def _cond(making: Making, type: str, x: Tensor, y: Tensor, j: int) -> list[Tensor]:
    """Two instructions in each branch, or in one a cond. Now and then what is dead gets out."""
    axes, before = np.array([0, 1], np.int32), len(making.values)
    pred = making.build.one("Greater", *(making.build.one("Sum", t, axes) for t in (x, y)))

    def branch(seed: int) -> Tensor:
        for number in (seed, seed // 3):
            kinds = PLAIN if seed < 20 else (*PLAIN, *["cond"] * 5)
            making.add(kinds[number % len(kinds)], number, j + number, number & 1)
        return making.values[-1]

    made = tf.cond(pred, lambda: branch(j + 1), lambda: branch(3 * j // 2))
    if j % 5:
        del making.values[before:]
    return [made]


_RULES: Mapping[str, Callable[[Making, str, Tensor, Tensor, int], list[Tensor]]] = {
    "Transpose": _transpose,
    "Reshape": _reshaped,
    "ExpandDims": _expanded,
    "Squeeze": _expanded,
    "Slice": _slice,
    "MatMul": _matmul,
    "Sum": _sum,
    "ConcatV2": _joined,
    "BiasAdd": _bias,
    "AddN": _sum_of_many,
    "Split": _split,
    "Pack": _packed,
    "Assign": _assign,
    "AssignAdd": _assign,
    "AssignSub": _assign,
    "ScatterUpdate": _scatter,
    "ScatterAdd": _scatter,
    "Count": _count,
    "PyFunc": _function,
    "RandomUniform": _random,
    "GatherV2": _gather,
    "Where": _where,
    "CheckNumerics": _checked,
    "Const": _constant,
    "cond": _cond,
}


@st.composite
def scripts(draw: Callable[..., Any]) -> Case:
    """A list of instructions; any tensors of it fetched, any updates asked for, some tensor fed."""
    making = Making()
    making.variables()
    for each in draw(instructions):
        making.add(*each)
    refs = [t.ref for t in making.values]
    fetches = draw(st.lists(st.sampled_from(refs), max_size=5, unique=True))
    targets = [n for n in making.updates if draw(st.booleans())]
    feeds = {TensorRef("x"): with_odd(draw, _start(1))}
    if draw(st.integers(0, 3)) == 0:  # in the middle
        ref = draw(st.sampled_from(refs))
        if making.build.operation(ref.op).type not in ("VariableV2", *UPDATES):
            feeds[ref] = _start(5)
    initial = {"v": _start(2), "r": _start(3)}
    if making.build.has("n"):
        initial["n"] = np.array(0.5, np.float32)
    if draw(st.integers(0, 9)) == 0:
        del initial[draw(st.sampled_from(sorted(initial)))]
    graph = making.build.build()
    return Case(graph, tuple(fetches or refs[-1:]), tuple(targets), feeds, initial, FUNCTIONS)


def with_odd(draw: Callable[..., Any], array: np.ndarray) -> np.ndarray:
    """`array`, now and then with NaN, an infinity, a subnormal number in it."""
    if array.size and draw(st.integers(0, 3)) == 0:
        array.flat[draw(st.integers(0, array.size - 1))] = draw(st.sampled_from(ODD))
    return array
