"""Random documents, and what it means for two to be equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.document.document import CodeItem, CodeKind, Document, Optimizer, View
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, Phase, TensorRef
from gradstep.core.io.native.tensor_json import objects

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
names = st.text("abcXYZ012_/. αф", min_size=1, max_size=10)
dtypes = st.sampled_from([d for d in DType if d is DType.STRING or d.numpy.kind != "O"])
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)


@st.composite
def constants(draw: Any) -> Constant:
    dtype, shape = draw(dtypes), draw(shapes)
    if dtype is DType.STRING:
        count = int(np.prod(shape))
        values = draw(st.lists(st.binary(max_size=5), min_size=count, max_size=count))
        return Constant(objects(values, shape))
    if dtype is DType.BFLOAT16:
        return Constant(draw(hnp.arrays(np.uint16, shape)).view(dtype.numpy))
    return Constant(draw(hnp.arrays(dtype.numpy, shape)))


partial = st.none() | st.lists(st.none() | st.integers(0, 9), max_size=4).map(tuple)
scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | text
    | st.binary(max_size=5)
    | st.sampled_from(DType)
    | partial.map(Shape)
    | constants()
)
attributes = scalars | st.lists(scalars, max_size=3).map(tuple)
refs = st.builds(TensorRef, names, st.integers(0, 9))
edges = st.builds(Edge, names, st.integers(0, 9))


@st.composite
def graphs(draw: Any) -> Graph:
    unique = draw(st.lists(names, unique=True, max_size=5))
    return Graph.of(
        Operation(
            name=name,
            type=draw(names),
            inputs=tuple(draw(st.lists(st.none() | refs, max_size=3))),
            control_inputs=tuple(draw(st.lists(names, max_size=2))),
            attrs=draw(st.dictionaries(names, attributes, max_size=3)),
            device=draw(text),
            origin=draw(text),
            phase=draw(st.sampled_from(Phase)),
        )
        for name in unique
    )


requests = st.builds(
    GradientRequest,
    of=st.lists(refs, max_size=2).map(tuple),
    wrt=st.lists(refs, max_size=2).map(tuple),
    stops=st.frozensets(refs, max_size=2),
    stopped_edges=st.frozensets(edges, max_size=2),
    overrides=st.lists(
        st.builds(Override, text, text, st.sampled_from(OverrideKind), st.booleans()), max_size=2
    ).map(tuple),
    unconnected_zero=st.booleans(),
    grad_ys=st.lists(st.none() | refs, max_size=2).map(tuple),
    gate=st.booleans(),
)
breakpoints = st.builds(
    Breakpoint,
    text,
    st.sampled_from(BreakpointKind),
    text,
    st.integers(1, 99),
    st.frozensets(names, max_size=2),
    st.booleans(),
)
code = st.lists(
    st.builds(CodeItem, names, st.sampled_from(CodeKind), text),
    max_size=4,
    unique_by=lambda item: item.name,
).map(lambda items: {item.name: item for item in items})
numbers = st.dictionaries(names, st.floats(), max_size=2)
finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
small = st.floats().map(lambda x: Constant(np.float32(x)) if abs(x) < 9 else Constant([x]))
variations = st.builds(
    Variation,
    feeds=st.dictionaries(names, small, max_size=1),
    initial=st.dictionaries(names, small, max_size=1),
    of=st.lists(refs, max_size=1).map(tuple),
    overrides=st.booleans(),
    device=st.sampled_from(("cpu", "emulate:jax")),
)
expectations = st.builds(
    Expectation,
    text,
    st.sampled_from(('x["a:0"]', "norm(grad['b']) > 2")),
    st.sampled_from((ExpectationKind.EQUALS, ExpectationKind.DIFFERS)),
    small,
    run=st.integers(0, 9),
    atol=st.floats(0, 1),
    when=st.just(Variation()) | variations,
)
documents = st.builds(
    Document,
    graph=graphs(),
    request=requests,
    initial=st.dictionaries(names, constants(), max_size=2),
    feeds=st.dictionaries(names, constants(), max_size=2),
    packed=st.dictionaries(text, constants(), max_size=2),
    optimizers=st.lists(
        st.builds(
            Optimizer,
            text,
            numbers,
            st.lists(refs, max_size=2).map(tuple),
            st.lists(refs, max_size=2).map(tuple),
            numbers,
            text,
            st.booleans(),
            text,
            text,
            text,
        ),
        max_size=2,
    ).map(tuple),
    code=code,
    breakpoints=st.lists(breakpoints, max_size=2).map(tuple),
    watches=st.lists(st.sampled_from(['x["a:0"]', "1 > 2"]) | text, max_size=2).map(tuple),
    init=text,
    fetches=st.lists(refs, max_size=2).map(tuple),
    targets=st.lists(text, max_size=2).map(tuple),
    title=text,
    note=text,
    claim=text,
    truth=text,
    group=text,
    expectations=st.lists(expectations, max_size=1).map(tuple),
    view=st.builds(
        View, st.dictionaries(names, st.tuples(finite, finite), max_size=2), st.frozensets(names)
    ),
)


def parts(document: Document) -> dict[str, Any]:
    """All of a document, so that `==` tells whether two are equal (a NaN equals a NaN)."""
    return {
        "operations": [
            (op.name, op.type, op.inputs, op.control_inputs, op.device, op.origin, op.phase)
            for op in document.graph
        ],
        "attrs": [{k: _same(v) for k, v in op.attrs.items()} for op in document.graph],
        "request": document.request,
        "initial": dict(document.initial),
        "feeds": dict(document.feeds),
        "packed": dict(document.packed),
        "optimizers": [
            (replace(o, hyper={}, scales={}), _all(o.hyper), _all(o.scales))
            for o in document.optimizers
        ],
        "code": dict(document.code),
        "rest": (
            document.breakpoints, document.watches,
            document.init, document.fetches, document.targets,
            document.title, document.note, document.claim, document.truth, document.group,
            document.expectations, document.view,
        ),
    }  # fmt: skip


def _all(numbers: Mapping[str, float]) -> dict[str, Any]:
    return {name: _same(value) for name, value in numbers.items()}


def _same(value: Any) -> Any:
    """Values of different types differ (1 and 1.0 and True); floats compare by what they print."""
    if isinstance(value, tuple):
        return tuple(_same(v) for v in value)
    return (type(value), repr(value) if isinstance(value, float) else value)
