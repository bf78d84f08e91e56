"""Sessions: copies of variables, random numbers, what happens before a run."""

from __future__ import annotations

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph
from gradstep.core.ops.build.builder import GraphBuilder, call
from tests.oracle.program import Program
from tests.oracle.reasons import DEVICES
from tests.oracle.table import DOCUMENTATION, Case, checks

SESSION = "Python API of TensorFlow's session, not graph semantics"


BUILD = "Python building TensorFlow graphs; Gradstep's graph is a document"


@checks("session_device_errors")
def devices(case: Case) -> None:
    for entry in case.recorded:
        if entry not in ("case", "topic", "tf_version", "note"):
            case.skip(DEVICES, entry)


@checks("variables_deep_copy")
def copies(case: Case) -> None:
    for kind in ("ref", "resource"):
        _copied(case, kind)


def _copied(case: Case, kind: str) -> None:
    """`load` is setting a variable in the session's store; assign copies, and never aliases."""
    resource = kind == "resource"
    weights = [np.array([[1, 2], [3, 4]], np.float32), np.array([5, 6], np.float32)]
    with Program(resource=resource) as p:
        names = ("netA/w", "netA/b", "netB/w", "netB/b")
        src = [p.variable(n, v) for n, v in zip(names[:2], weights, strict=True)]
        dst = [p.variable(n, np.zeros_like(v)) for n, v in zip(names[2:], weights, strict=True)]
        before = len(p.operations())
        for a, b in zip(src, dst, strict=True):
            p.session.store.set(b.name, p.value(a))
        case.value([p.value(v) for v in dst], kind, "after_load")
        case.graph(len(p.operations()) - before, kind, "ops_added_by_load")
        p.run(src[0].update("AssignAdd", np.ones((2, 2), np.float32)))
        found = {"src": p.value(src[0]), "copy": p.value(dst[0])}
        case.value(found, kind, "source_changed_copy_unaffected")
        wrong = {dst[0].name: np.zeros((3, 2), np.float32)}
        case.error(
            lambda: Session(p.builder.build(), initial=wrong),
            kind,
            "load_wrong_shape",
            says="initial value of shape [3, 2] does not fit variable 'netB/w' of shape [2, 2]",
            why="an initial value is no feed here",
        )
        double = {dst[0].name: np.zeros((2, 2))}
        Session(p.builder.build(), initial=double)
        case.value(None, kind, "load_wrong_dtype_float64")
    case.skip(SESSION, kind, "load_no_session")
    other = Session(_other_graph())
    case.error(
        lambda: other.run(["netA/w"]),
        kind,
        "eval_in_wrong_session",
        says="Argument `fetch` = netA/w:0 cannot be interpreted as a Tensor.",
        why="a tensor is known by its name",
    )
    case.skip(DOCUMENTATION, kind, "python_alias")
    _assigned(case, kind, weights[0])
    _sessions(case, kind)


def _other_graph() -> Graph:
    builder = GraphBuilder()
    builder.variable("netC/w", shape=(2, 2))
    return builder.build()


def _assigned(case: Case, kind: str, start: np.ndarray) -> None:
    with Program(resource=kind == "resource") as p:
        x = p.variable("x", start)
        z, y = p.variable("z", np.zeros((2, 2), np.float32)), p.variable("y", start)
        p.run(z.update("Assign", x.value()))
        p.run(y.update("Assign", x.value()))
        p.run(x.update("AssignAdd", np.ones((2, 2), np.float32)))
        keys = ("x", "z_assigned_from_x", "y_Variable_from_x")
        found = {k: p.value(v).copy() for k, v in zip(keys, (x, z, y), strict=True)}
        case.value(found, kind, "same_graph_assign_then_source_changes")
        p.run(z.update("AssignAdd", np.full((2, 2), 10, np.float32)))
        found = {"x": p.value(x), "z": p.value(z)}
        case.value(found, kind, "changing_copy_leaves_source")


def _sessions(case: Case, kind: str) -> None:
    """Two sessions of one graph have their own variables; a new one has none."""
    with Program(resource=kind == "resource") as p:
        x = p.variable("x", np.float32(1))
        plus = x.update("AssignAdd", np.float32(2))
        graph = p.builder.build()
        first, second = (Session(graph, initial=p.initial) for _ in range(2))
        first.run([plus.ref])
        found = {"a": first.store["x"], "b": second.store["x"]}
        case.value(found, kind, "two_sessions_one_graph")
        fetch = x.read.ref if kind == "resource" else x.handle.ref
        for key in ("third_session_uninitialised", "value_gone_after_close"):
            says = why = ""
            if kind == "resource":
                says = "Could not find variable x. This could mean that the variable has been"
                why = "the rest names TensorFlow's container, which is there before its first use"
            case.error(lambda: Session(graph).run([fetch]), kind, key, says=says, why=why)


@checks("graph_define_time")
def definition(case: Case) -> None:
    with Program() as p:
        five = p.builder.constant(np.int32(5))
        y = call("AddV2", five, five)
        case.graph(y.op.type, "op_type_in_2_21")
        case.value(p.run(y), "eval")
        case.value(p.run(y), "eval_interactive")
        case.value(p.run([], targets=[y.ref.op]) or None, "op.run returns")
        x = p.placeholder("x", shape=(None, 784))
        case.graph(list(x.shape), "get_shape")
    for key in case.recorded:
        done = key in ("op_type_in_2_21", "eval", "eval_interactive", "op.run returns")
        if key not in ("case", "topic", "tf_version", "get_shape") and not done:
            case.skip(BUILD, key)


@checks("random_seeds")
def seeds(case: Case) -> None:
    """The stream of an op with seeds starts anew in each session and goes on from run to run."""
    for entry in case.recorded:
        if "seed=" not in entry:
            continue
        seed, seed2 = case.given(entry, "seed,seed2", "random_uniform/RandomUniform")
        with Program() as p:
            shape = np.array([2], np.int32)
            drawn = call("RandomUniform", shape, dtype=DType.FLOAT32, seed=seed, seed2=seed2)
            for session in ("session1", "session2"):
                p.restart()
                case.value([p.run(drawn).copy() for _ in range(2)], entry, session)
    with Program() as p:
        drawn = call("RandomUniform", np.array([2], np.int32), dtype=DType.FLOAT32)
        case.skip(
            "without seeds Gradstep's numbers follow from the name", "no_seeds", "sessions_equal"
        )
        attrs = drawn.op.operation.attrs
        case.graph([[attrs.get("seed", 0), attrs.get("seed2", 0)]], "no_seeds", "attr")
