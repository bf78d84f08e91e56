"""What is fed and fetched: refusals in TensorFlow's words, and what is converted."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, call
from tests.oracle.program import Program, Variable
from tests.oracle.table import DOCUMENTATION, Case, checks

SESSION = "Python API of TensorFlow's session, not graph semantics"


TENSOR = "what TensorFlow's Python tensors allow in Python code"


INFERRED = "the shapes of what is fed are inferred before the run, as if while building"


def recorded_graph() -> Program:
    with Program() as p:
        for name, kind, shape in [
            ("x", "float32", (2,)),
            ("u", "float32", None),
            ("pn", "float32", (None, 3)),
            ("i", "int32", (None,)),
            ("i0", "int32", ()),
            ("flag", "bool", ()),
        ]:
            call("Identity", p.builder.placeholder(name, kind, shape), name=f"read_{name}")
        call("AddV2", p.builder.get("x"), p.builder.get("x"), name="twice")
        call("AddV2", p.builder.get("u"), 1.0, name="plus")
        _ref(p)
        _resource(p)
    return p


def _ref(p: Program) -> None:
    v = p.variable("v_ref", np.zeros(2, np.float32), resource=False)
    v.update("AssignAdd", np.ones(2, np.float32), name="AssignAdd")
    v.update("Assign", np.array([5, 6], np.float32), name="Assign")
    call("IsVariableInitialized", v.handle, name="is_ref")


def _resource(p: Program) -> None:
    v = p.variable("v_resource", np.zeros(2, np.float32), resource=True)
    v.value("ReadVariableOp")
    v.update("AssignAdd", np.ones(2, np.float32), name="AssignAddVariableOp")
    v.update("Assign", np.array([5, 6], np.float32), name="AssignVariableOp")
    call("VarIsInitializedOp", v.handle, name="is_resource")


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "unfed": ("twice", {}),
    "unfed_unknown_shape": ("read_u", {}),
    "unfed_partial_shape": ("read_pn", {}),
    "unfed_int32": ("read_i", {}),
    "wrong_shape": ("read_x", {"x:0": [1, 2, 3]}),
    "wrong_shape_partial": ("read_pn", {"pn:0": np.zeros((2, 4))}),
    "rank_mismatch": ("read_x", {"x:0": 1.0}),
    "python_int_too_big_for_int32": ("read_i0", {"i0:0": 1 << 40}),
    "int_fed_to_bool": ("read_flag", {"flag:0": 2}),
    "string_fed_to_float": ("read_x", {"x:0": np.array(["a", "b"])}),
    "ragged_list": ("read_x", {"x:0": [[1.0], [1.0, 2.0]]}),
    "None_fed": ("read_x", {"x:0": None}),
    "fetch_unknown_name": ("nope:0", {}),
    "uninitialised_ref_read": ("v_ref", {}),
    "uninitialised_ref_expr": ("v_ref/read", {}),
    "uninitialised_ref_assign_add": ("AssignAdd", {}),
    "uninitialised_resource_read": ("v_resource/Read/ReadVariableOp", {}),
    "uninitialised_resource_expr": ("ReadVariableOp", {}),
}


TAKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown_rank_accepts_any": ("plus", {"u:0": [[1.0, 2.0]]}),
    "float64_fed_to_float32": ("twice", {"x:0": np.array([1.0, 2.0])}),
    "int_fed_to_float32": ("twice", {"x:0": [1, 2]}),
    "float_list_fed_to_int32": ("read_i", {"i:0": [1.7, -1.7]}),
    "float_ndarray_fed_to_int32": ("read_i", {"i:0": np.array([1.7, -1.7])}),
    "python_float_fed_to_int32_scalar": ("read_i0", {"i0:0": 1.7}),
    "string_key_tensor_name": ("twice", {"x:0": [1, 2]}),
    "make_callable": ("twice", {"x:0": [1, 2]}),
}


@checks("session_feed_errors")
def feeding(case: Case) -> None:
    graph = recorded_graph().builder.build()

    def run(fetch: str, feeds: dict[str, Any], targets: tuple[str, ...] = ()) -> Any:
        values = Session(graph).run([fetch] if fetch else [], feeds, targets)
        return values[0] if values else None

    for entry, (fetch, feeds) in REFUSED.items():
        case.error(lambda fetch=fetch, feeds=feeds: run(fetch, feeds), entry)
    for entry, (fetch, feeds) in TAKEN.items():
        case.value(lambda fetch=fetch, feeds=feeds: run(fetch, feeds), entry)
    entry = "uninitialised_resource_assign_add"
    case.error(lambda: run("", {}, ("AssignAddVariableOp",)), entry)
    _two_unfed(case)
    for kind, assign in (("ref", "Assign"), ("resource", "AssignVariableOp")):
        _initialising(case, graph, kind, assign)
    case.error(lambda: Session(Graph()).run(["x"]), "empty_graph_run")
    _init_order(case)
    _two_graphs(case, graph)
    _building(case)
    _running(case)
    _left_out(case)


def _two_unfed(case: Case) -> None:
    with Program() as p:
        y = p.placeholder("a", shape=()) + p.placeholder("b", shape=())
        kind = case.at("two_unfed", "raised")
        own = Case(case.name, {"two": {"raised": kind, "message": "You must feed a value for"}})
        own.error(lambda: p.run(y), "two")
        case.derived(own.rows[0].result, "ok", "two_unfed", how="which of the two is named is open")


def _initialising(case: Case, graph: Graph, kind: str, assign: str) -> None:
    session = Session(graph)
    read = "v_ref/read" if kind == "ref" else "v_resource/Read/ReadVariableOp"
    case.value(
        np.array([session.run([f"is_{kind}"])[0]]).reshape(()), f"is_variable_initialized_{kind}"
    )
    name = f"v_{kind}"
    missing = [name] if name not in session.store else []
    case.value(np.array(missing, object), f"report_uninitialized_variables_{kind}")
    session.run([], targets=[assign])
    case.value(session.run([read])[0], f"uninitialised_{kind}_assign_ok")


def _init_order(case: Case) -> None:
    """d starts as twice what `a.initialized_value()` is: a ref variable's is a's initial value as
    long as a has none, a resource's a read."""
    with Program(resource=False) as p:
        _, d, init = _after_another(p)
        p.run([], targets=[init])
        case.value(None, "init_only_d_before_a_ref")
        case.value(p.run(d.read), "init_from_initialized_value_ref")
    with Program(resource=True) as p:
        _, d, init = _after_another(p)
        case.error(
            lambda: p.run([], targets=[init]),
            "init_only_d_before_a_resource",
            says="Could not find variable a. This could mean that the variable has been deleted.",
            why="the rest names TensorFlow's container, which is there before its first use",
        )
    case.skip(
        "nothing orders the read of a after its assignment: a race",
        "init_from_initialized_value_resource",
    )


def _after_another(p: Program) -> tuple[Variable, Variable, str]:
    """Variables a and d without values, and the operation that initialises d."""
    a, d = p.variable("a", np.float32(3)), p.variable("d", np.float32(0))
    p.initial.clear()
    first = p.builder.constant(np.float32(3), name="a/initial_value")
    now = a.value()
    if not p.resource:
        there = call("IsVariableInitialized", a.handle)
        now = tf.cond(there, lambda: call("Identity", a.handle), lambda: first)
    return a, d, d.update("Assign", now * 2.0, name="d/Assign").op.operation.name


def _two_graphs(case: Case, graph: Graph) -> None:
    """Sessions of two graphs: a session knows the tensors of its own, by name."""
    there = GraphBuilder()
    z = there.placeholder("z", shape=())
    why = "a tensor is known by its name"
    says = "Argument `fetch` = z:0 cannot be interpreted as a Tensor."
    case.error(lambda: Session(graph).run([z.ref]), "fetch_other_graph", says=says, why=why)
    says = "Cannot interpret feed_dict key as Tensor: The name 'z:0' refers to a Tensor which"
    run = lambda feeds, fetch="x": Session(graph).run([fetch], feeds)  # noqa: E731
    case.error(lambda: run({z.ref: 1.0}), "feed_other_graph", says=says, why=why)
    case.error(lambda: run({5: 1.0}), "feed_key_int")
    case.error(lambda: run([("x", 1.0)]), "feed_dict_list")
    case.error(lambda: run({}, 5), "fetch_python_number")


def _building(case: Case) -> None:
    """Shapes and types that do not fit are refused while the graph is built."""
    zeros = lambda *shape: np.zeros(shape, np.float32)  # noqa: E731
    b = GraphBuilder()
    case.error(lambda: b.one("MatMul", zeros(2, 3), zeros(2, 3)), "static_shape_mismatch_at_build")
    case.error(
        lambda: b.one("AddV2", zeros(2, 3), zeros(4)),
        "broadcast_mismatch_at_build",
        says="Incompatible shapes: [2, 3] vs. [4]",
        why="what TensorFlow says when it runs",
    )
    whole = b.constant(np.array([1], np.int32))
    case.error(
        lambda: b.one("AddV2", b.constant(zeros(1)), whole),
        "dtype_mismatch_at_build",
        says="AddV2 needs inputs of one element type, not float32 and int32",
        kind="ValueError",
    )


def _running(case: Case) -> None:
    """The same where shapes are known only when it runs."""
    with Program() as p:
        u, v = p.placeholder("u"), p.placeholder("v")
        feeds = {u: np.zeros((2, 3)), v: np.zeros((2, 3))}
        case.error(
            lambda: p.run(call("MatMul", u, v), feeds),
            "runtime_matmul_mismatch",
            says="Dimensions must be equal, but are 3 and 2",
            why=INFERRED,
        )
        feeds = {u: np.zeros((2, 3)), v: np.zeros(4)}
        case.error(
            lambda: p.run(u + v, feeds),
            "runtime_broadcast_mismatch",
            says="Incompatible shapes: [2, 3] vs. [4]",
            why=INFERRED,
        )


def _left_out(case: Case) -> None:
    case.skip("x is short for x:0 wherever a tensor is named", "string_key_op_name")
    case.skip("a tensor belongs to what builds its graph; others know it by name", "mix_graphs")
    for entry in (
        "eval_without_session",
        "run_without_session",
        "closed_session",
        "finalized_graph",
    ):
        case.skip(SESSION, entry)
    for entry in ("bool_of_tensor", "iterate_tensor_unknown", "len_of_tensor", "numpy_of_tensor"):
        case.skip(TENSOR, entry)
    case.skip_each(TENSOR, "assign_item", "tensor_as_feed_value")
    case.skip(DOCUMENTATION, next(k for k in case.recorded if k.startswith("tf1_text")))
