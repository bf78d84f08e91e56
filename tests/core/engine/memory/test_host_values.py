"""What of a plan lies on the host: what is read there, and what it is made of, as far as it can."""

from __future__ import annotations

import numpy as np

from gradstep.core.engine.memory.host_values import host_values, iteration_host_values
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor


def compiled(builder: GraphBuilder, *fetches: Tensor, **feeds: object) -> Plan:
    graph = builder.build()
    given = feed_arrays(graph, {TensorRef(name): np.asarray(x) for name, x in feeds.items()})
    return compile_plan(graph, tuple(t.ref for t in fetches), (), infer_fed_types(given))


def on_host(plan: Plan, found: frozenset[int]) -> set[str]:
    return {str(plan.values[i].ref or plan.values[i].variable).partition(":")[0] for i in found}


def test_a_shape_that_is_computed_and_what_it_is_made_of() -> None:
    b = GraphBuilder()
    with b.as_default():
        x = b.placeholder("x", shape=(None, 4))
        shape = tf.shape(x, name="shape")
        half = b.one("FloorDiv", shape, np.array([1, 2], np.int32), name="half")
        three = tf.concat([half, [2]], 0, name="three")
        y = b.one("Reshape", x, three, name="y")
    plan = compiled(b, y, x=np.ones((3, 4), np.float32))
    assert on_host(plan, host_values(plan)) == {"shape", "half", "three"}


def test_a_quotient_of_sizes_is_found_where_its_divisor_can_be_looked_at() -> None:
    b = GraphBuilder()
    with b.as_default():
        x = b.placeholder("x", shape=(None, 4))
        labels = b.placeholder("labels", "int32", (3,))
        rows = b.one("FloorDiv", b.one("Size", x, name="size"), 4, name="rows")
        parts = b.one("FloorDiv", labels, rows, name="parts")
        y = b.one("Mul", x, tf.cast(rows, "float32"), name="y")
    feeds = {"x": np.ones((3, 4), np.float32), "labels": np.arange(3, dtype=np.int32)}
    plan = compiled(b, y, parts, **feeds)
    assert on_host(plan, host_values(plan)) == {"size", "rows"}  # labels are on the device


def test_whole_numbers_that_are_read_on_the_device_stay_there() -> None:
    b = GraphBuilder()
    with b.as_default():
        x = b.placeholder("x", "int32", (3,))
        sizes = tf.shape(x, name="sizes")
        y = b.one("Mul", x, b.one("Sum", x, 0, name="total"), name="y")
        z = b.one("Mul", x, sizes, name="z")
    plan = compiled(b, y, z, x=np.arange(3, dtype=np.int32))
    assert host_values(plan) == frozenset()


def test_what_is_made_of_an_array_on_the_device_stays_there() -> None:
    b = GraphBuilder()
    with b.as_default():
        labels = b.placeholder("labels", "int32", (5,))
        most = b.one("Max", labels, 0, name="most")
        y = b.one("Fill", b.one("Reshape", most, [1], name="size"), 0.0, name="y")
    plan = compiled(b, y, labels=np.arange(5, dtype=np.int32))
    assert host_values(plan) == frozenset()


def test_a_counter_and_a_condition() -> None:
    b = GraphBuilder()
    with b.as_default():
        x = b.placeholder("x", shape=())
        _, y = tf.while_loop(
            lambda i, y: tf.less(i, 3, name="less"),
            lambda i, y: (tf.add(i, 1, name="next"), y * tf.cast(i, "float32") * x),
            (0, 1.0),
        )
    plan = compiled(b, y, x=np.float32(2))
    (iteration,) = (s.iteration for s in plan.steps if s.iteration is not None)
    inside = on_host(iteration.plan, iteration_host_values(iteration))
    assert {"less", "next"} <= {name.rpartition("/")[2] for name in inside}
    assert not any("mul" in name.lower() or "cast" in name.lower() for name in inside)


def test_a_condition_that_hangs_on_what_the_device_computes_is_asked_there() -> None:
    b = GraphBuilder()
    with b.as_default():
        x = b.placeholder("x", shape=())
        y = tf.while_loop(lambda y: y < 100.0, lambda y: [y * x], [x])
    plan = compiled(b, y, x=np.float32(2))
    (iteration,) = (s.iteration for s in plan.steps if s.iteration is not None)
    assert iteration_host_values(iteration) == frozenset()
