"""tf.cond, Switch and Merge while they are drawn: types, names, TensorFlow's errors."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call, call_many

Pair = namedtuple("Pair", "b a")


@pytest.fixture
def pred() -> Tensor:
    return GraphBuilder().placeholder("p", "bool", ())


def test_results_nest_as_the_functions_return_them(pred: Tensor) -> None:
    build = pred.builder

    def both(x: float) -> dict[str, Any]:
        return {"z": [tf.constant(x), tf.constant(x + 1)], "a": Pair(x + 2, (np.float32(x + 3),))}

    with build.as_default():
        found = tf.cond(pred, lambda: both(1), lambda: both(10))
        one = tf.cond(pred, lambda: [1.0], lambda: [2.0])
        strict = tf.cond(pred, lambda: [1.0], lambda: [2.0], strict=True)
    assert [*found] == ["z", "a"]
    assert isinstance(found["a"], Pair)
    refs = [*found["z"], found["a"].b, found["a"].a[0], one, strict[0]]
    values = Session(build.build()).run([x.ref for x in refs], {"p": False})
    assert [float(x) for x in values] == [10, 11, 12, 13, 2, 2]


def test_operations_without_a_value_are_waited_for(pred: Tensor) -> None:
    """A result that is an operation: the cond gives the predicate once it is done."""
    build = pred.builder
    v = build.variable("v")
    with build.as_default():
        done = tf.cond(
            pred, lambda: call("AssignAdd", v, 1.0).op, lambda: call("AssignSub", v, 1.0).op
        )
    session = Session(build.build(), initial={"v": np.array(0, np.float32)})
    assert [bool(session.run([done.ref], {"p": p})[0]) for p in (True, True, False)] == [1, 1, 0]
    assert session.store["v"] == 1


def _vector() -> Tensor:
    return tf.constant([True, False])


def _two() -> list[float]:
    return [1.0, 2.0]


@pytest.mark.parametrize(
    ("ask", "kind", "text"),
    [
        (lambda p: tf.cond(True, _two, _two), "TypeError", "'pred' must not be a Python bool."),
        (lambda p: tf.cond(p, 1.0, _two), "TypeError", "'true_fn' must be callable."),
        (lambda p: tf.cond(p, _two, 1.0), "TypeError", "'false_fn' must be callable."),
        (lambda p: tf.cond(p), "TypeError", "cond(): 'true_fn' argument required"),
        (lambda p: tf.cond(p, _two, lambda: None), "ValueError", "'false_fn' must have a return"),
        (lambda p: tf.cond(p, list, list), "ValueError", "must return at least one result."),
        (
            lambda p: tf.cond(p, lambda: 1.0, lambda: 1),
            "ValueError",
            "Outputs of 'true_fn' and 'false_fn' must have the same type(s). Received float32 from "
            "'true_fn' and int32 from 'false_fn'.",
        ),
        (lambda p: tf.cond(p, _two, lambda: 1.0), "ValueError", "same nested structure"),
        (lambda p: tf.cond(p, _two, lambda: (1.0, 2.0)), "TypeError", "same nested structure"),
        (
            lambda p: tf.cond(p, lambda: {"a": 1.0}, lambda: {"b": 1.0}),
            "ValueError",
            "don't have the same set of keys",
        ),
        (
            lambda p: tf.cond(_vector(), _two, _two),
            "ValueError",
            "Shape must be rank 0 but is rank",
        ),
        (
            lambda p: tf.cond(tf.constant(1), _two, _two),
            "ValueError",  # in TensorFlow's Python a TypeError
            "Input 'pred' of 'Switch' Op has type int32 that does not match expected type of bool.",
        ),
    ],
)
def test_errors(pred: Tensor, ask: Callable[[Tensor], Any], kind: str, text: str) -> None:
    with pred.builder.as_default(), pytest.raises(GradstepError) as failure:
        ask(pred)
    assert failure.value.kind == kind
    assert text in failure.value.message


def test_a_predicate_that_is_no_scalar_when_it_runs() -> None:
    """Of what a function gives no shape is known before."""
    build, bools = GraphBuilder(), (DType.BOOL,)
    fed, x = build.placeholder("p", "bool"), build.placeholder("x", shape=(2,))
    pred = build.one("PyFunc", fed, token="same", Tin=bools, Tout=bools)
    merged = build.op("Merge", *build.op("Switch", x, pred))
    for fast in (False, True):
        session = Session(build.build(), functions={"same": lambda p: p}, fast=fast)
        feeds = {"p": [True, False], "x": [1, 2]}
        with pytest.raises(GradstepError, match=r"must be a scalar, but it has shape \[2\]"):
            session.run([merged[0].ref], feeds)


@pytest.mark.parametrize(
    ("shapes", "merged"),
    [
        (((2, 3), (2, 3)), "float32[2, 3]"),
        (((2, 3), (2, 4)), "float32[2, ?]"),
        (((2, 3), (2,)), "float32<unknown>"),
        (((2,), None), "float32<unknown>"),
    ],
)
def test_what_a_merge_gives(shapes: Any, merged: str) -> None:
    build = GraphBuilder()
    both = [build.placeholder(f"x{i}", shape=shape) for i, shape in enumerate(shapes)]
    output, index = call_many("Merge", *both)
    assert (str(output.type), str(index.type)) == (merged, "int32[]")


def test_the_first_case_that_is_true() -> None:
    """Without a default one has to be; with `exclusive`, no more than one may be."""
    build = GraphBuilder()
    x = build.placeholder("x", shape=())
    pairs = [(call("Less", x, 1.0), lambda: x * 2.0), (call("Less", x, 2.0), lambda: x * 3.0)]
    with build.as_default():
        first, only = tf.case(pairs), tf.case(pairs, lambda: x, exclusive=True)
    session = Session(build.build())
    assert [session.run([first.ref], {"x": at})[0] for at in (0.5, 1.5)] == [1, 4.5]
    assert [session.run([only.ref], {"x": at})[0] for at in (1.5, 2.5)] == [4.5, 2.5]
    for tensor, at, text in ((first, 3, "None of the conditions"), (only, 0.5, "More than one")):
        with pytest.raises(GradstepError, match=f"assertion failed: .*{text}"):
            session.run([tensor.ref], {"x": at})


def test_names_of_a_cond_in_a_cond_are_those_of_tensorflow() -> None:
    build = GraphBuilder()
    p, q = (build.placeholder(name, "bool", ()) for name in "pq")
    x = build.placeholder("x", shape=())
    with build.as_default():
        tf.cond(
            p,
            lambda: tf.cond(q, lambda: call("Neg", x, name="a"), lambda: call("Abs", x, name="b")),
            lambda: x,
        )
    found = {op.name: [str(r) for r in op.inputs] for op in build.build() if "/cond/" in op.name}
    assert found == {
        "cond/cond/Switch/Switch": ["q:0", "cond/pred_id:0"],
        "cond/cond/Switch": ["cond/cond/Switch/Switch:1"] * 2,
        "cond/cond/switch_t": ["cond/cond/Switch:1"],
        "cond/cond/switch_f": ["cond/cond/Switch:0"],
        "cond/cond/pred_id": ["cond/cond/Switch/Switch:1"],
        "cond/cond/a/Switch": ["x:0", "cond/pred_id:0"],
        "cond/cond/a/Switch_1": ["cond/cond/a/Switch:1", "cond/cond/pred_id:0"],
        "cond/cond/a": ["cond/cond/a/Switch_1:1"],
        "cond/cond/b/Switch": ["cond/cond/a/Switch:1", "cond/cond/pred_id:0"],
        "cond/cond/b": ["cond/cond/b/Switch:0"],
        "cond/cond/Merge": ["cond/cond/b:0", "cond/cond/a:0"],
    }
