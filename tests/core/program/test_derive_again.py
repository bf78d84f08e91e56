"""What an edit leaves is taken over, and the program and its values are those derived afresh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document import document_edits, request_edits, value_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan import incremental
from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import find_moved
from gradstep.core.graph.dtypes import UNKNOWN, Shape
from gradstep.core.graph.model import Constant, Edge, Graph, TensorRef
from gradstep.core.host.program_reports import program_info
from gradstep.core.host.retold import Told
from gradstep.core.host.session_restore import begin
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.used_names import names_of
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.persistent.sequence_places import exchange
from gradstep.core.program import training_updates
from gradstep.core.program.derive import derive
from gradstep.core.program.runnable_part import drop_unfinished
from gradstep.core.train.optimizers import apply_updates
from gradstep.core.train.update_ops import Updates
from tests.support.drawn_share import share
from tests.support.large_graphs import edit_as_large

BACKEND = NumpyBackend()
_SHAPES = st.sampled_from([(1, 2), (2, 2), (3, 2), (None, 2), None]).map(
    lambda dims: Shape(dims) if dims is not None else UNKNOWN
)


def _drawn(rows: bool = True) -> Document:
    """Layers in scopes that read one constant, rows of a table, random numbers, a group that waits;
    two optimizers of two losses. rows: a gradient is rows of the table."""
    build = GraphBuilder()
    initial: dict[str, Constant] = {}
    with build.as_default():
        h = build.placeholder("x", "float32", (1, 2))
        gain = build.constant(np.float32(0.5), name="gain")
        for number in range(3):
            with build.scope(f"layer{number}") as scope:
                w = build.variable("w", "float32", (2, 2))
                h = h + tf.tanh(tf.matmul(h, w)) * gain
                initial[f"{scope}/w"] = Constant(np.eye(2, dtype=np.float32) * (number + 1))
        table = build.variable("table", "float32", (3, 2))
        initial["table"] = Constant(np.full((3, 2), 0.1, np.float32))
        row = tf.gather(table, build.constant([1])) if rows else tf.reduce_sum(table, 0)
        h = h + row + tf.random_uniform([1, 2], seed=1)
        loss = tf.reduce_sum(h * h, name="loss")
        tf.reduce_sum(h, name="other")
        names = [op.name for op in build.build() if op.type == "AddV2"]
        build.op("NoOp", name="done", control_inputs=names)
    return Document(
        graph=build.build(),
        request=GradientRequest((loss.ref,)),
        feeds={"x:0": Constant(np.ones((1, 2), np.float32))},
        initial=initial,
        optimizers=(
            Optimizer(
                "Adam",
                {"learning_rate": 0.1},
                schedule="warmup(2) * exponential_decay(3, 0.5)",
                clip="global_norm(0.1)",
            ),
            Optimizer("Momentum", {"learning_rate": 0.1, "momentum": 0.9}, (TensorRef("other"),)),
        ),
    )


def _edited(document: Document, draw: Callable[..., Any]) -> Document:
    """After something that a user may do."""
    operations = [*document.graph]
    op = draw(st.sampled_from(operations))
    other = draw(st.sampled_from(operations))
    edge = Edge(draw(st.sampled_from([one for one in operations if one.inputs])).name, 0)
    override = Override("Identity", op.name, OverrideKind.OP)
    optimizer = document.optimizers[0]
    toggled = replace(optimizer, enabled=not optimizer.enabled)
    kinds: dict[str, Callable[[], Document]] = {
        "stop": lambda: request_edits.toggle_stop(document, edge),
        "override": lambda: request_edits.set_override(document, override),
        "note": lambda: value_edits.set_attr(document, op.name, "_note", "seen"),
        "value": lambda: value_edits.set_attr(document, "gain", "value", Constant(np.float32(2))),
        "rename": lambda: document_edits.rename_operation(document, op.name, f"{op.scope}/named"),
        "adam": lambda: document_edits.rename_operation(document, op.name, "layer1/w/Adam"),
        "wire": lambda: document_edits.connect(document, other.output(), edge),
        "cut": lambda: document_edits.disconnect(document, edge),
        "control": lambda: document_edits.add_control(document, op.name, other.name),
        "gone": lambda: document_edits.remove_operations(document, {op.name}),
        "switch": lambda: document.with_(optimizers=(toggled, *document.optimizers[1:])),
        "bend": lambda: document.with_(optimizers=(_bent(optimizer), *document.optimizers[1:])),
        "first": lambda: value_edits.set_initial(
            document, "layer1/w", np.full((2, 2), 0.3, np.float32)
        ),
        "shape": lambda: value_edits.set_attr(
            document, draw(st.sampled_from(["x", "layer0/w", "table"])), "shape", draw(_SHAPES)
        ),
        "unfed": lambda: document.with_(feeds={}),
        "read again": lambda: document.with_(graph=_made_anew(document.graph)),
    }
    try:
        return kinds[draw(st.sampled_from([*kinds]))]()
    except GradstepError:
        return document


def _bent(optimizer: Optimizer) -> Optimizer:
    """Otherwise than it is."""
    ways = [("", "", "l2(0.1)"), ("cosine_decay(3)", "value(1)", "decoupled(0.2)"), ("", "", "")]
    schedule, clip, decay = ways[(len(optimizer.schedule) + len(optimizer.decay)) % 3]
    return replace(optimizer, schedule=schedule, clip=clip, decay=decay)


def _made_anew(graph: Graph) -> Graph:
    """Equal, and nothing of it the same."""
    return Graph.of(replace(op, attrs=dict(op.attrs)) for op in graph)


def assert_same_program(again: Program, anew: Program) -> None:
    assert [*again.graph] == [*anew.graph]
    assert again.graph.order == anew.graph.order
    for name in ("gradients", "slices", "edges", "blocked", "custom", "slots"):
        assert list(getattr(again, name).items()) == list(getattr(anew, name).items())
    for name in ("fetches", "targets", "init", "request"):
        assert getattr(again, name) == getattr(anew, name)
    assert [str(p) for p in again.problems] == [str(p) for p in anew.problems]
    one, other = (infer_declared(program.graph) for program in (again, anew))
    assert one.types.of == other.types.of
    names, others = (names_of(program.graph).everything() for program in (again, anew))
    assert names[0] == others[0]
    assert names[1] >= others[1]  # scopes that are empty now may be left
    one, other = ([(n, x.tobytes()) for n, x in p.initial.items()] for p in (again, anew))
    assert one == other


def assert_moved_as_told(before: Graph, graph: Graph) -> None:
    """Who asks how the order of names differs is told what it does differ by."""
    moved = find_moved(before, graph)
    if moved is None:
        return  # it has to be looked for
    come = [(place, graph.names[place]) for _, place in moved.come]
    assert exchange(before.names, moved.gone, come) == [*graph.names]
    assert {
        before.names[place] for place in moved.gone
    } == before.operations.keys() - graph.operations
    assert {name for _, name in come} == graph.operations.keys() - before.operations


def _values(threads: Scheduler) -> list[object]:
    """Of all that two runs make, to the last bit."""
    session, found = threads.session, list[object]()
    steps = session.plan.steps
    found.append([step.op.name for step in steps])
    found.append([*session.plan.versions])
    for run in range(2):
        stop = threads.command("continue_")
        found.append((stop.reason, str(stop.error), stop.step))
        if stop.error is not None:
            break
        record = session.timeline.recorded(run)
        found += [_bits(record.value(v)) for step in steps for v in step.writes]
    return found


def _bits(value: Any) -> object:
    return (value.dtype.str, value.shape, value.tobytes()) if hasattr(value, "tobytes") else value


@settings(max_examples=share(12), deadline=None, suppress_health_check=[*HealthCheck])
@given(st.sampled_from([1.0, incremental.MOST_TOUCHED]), st.booleans(), st.booleans(), st.data())
@pytest.mark.slow
def test_after_any_edits_it_is_as_afresh(
    touched: float, rows: bool, large: bool, data: st.DataObject
) -> None:
    """touched: the share of the steps up to which only those are looked at that an edit may have
    touched; large: whether it is edited as a large graph is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incremental, "MOST_TOUCHED", touched)
        if large:
            edit_as_large(patch)
        _edit(_drawn(rows), data)


def test_names_are_still_taken_where_another_variable_s_update_has_what_all_share() -> None:
    """The first variable has no gradient any more, and all that is shared is another, too: what is
    made for the next one is called as what was let go, and must not be let go again."""
    whole = _drawn(rows=False)
    stopped = request_edits.toggle_stop(whole, Edge("layer0/Mul", 0))
    optimizer, *others = whole.optimizers
    bent = whole.with_(optimizers=(_bent(optimizer), *others))
    program = drop_unfinished(derive(whole, {}))
    for document in (stopped, whole, bent, stopped):
        program = drop_unfinished(derive(document, {}, previous=program))
        assert_same_program(program, drop_unfinished(derive(document, {})))


@pytest.mark.parametrize("kind", ["note", "stop", "override", "control"])
def test_updates_of_the_same_gradients_are_not_made_again(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _drawn(rows=False)
    edits = {
        "note": lambda: value_edits.set_attr(before, "layer1/Tanh", "_note", "seen"),
        "stop": lambda: request_edits.toggle_stop(before, Edge("layer2/Mul", 1)),
        "override": lambda: request_edits.set_override(
            before, Override("Identity", "layer1/Tanh", OverrideKind.OP)
        ),
        "control": lambda: document_edits.add_control(before, "layer1/Tanh", "layer0/w"),
    }
    after, last, made = edits[kind](), derive(before, {}), []

    def making(builder: GraphBuilder, *given: Any) -> Updates:
        made.append(given)
        return apply_updates(builder, *given)

    monkeypatch.setattr(training_updates, "apply_updates", making)
    again = derive(after, {}, previous=last)
    assert not made
    anew = derive(after, {})
    assert len(made) == 2
    assert_same_program(again, anew)


def test_updates_that_would_be_others_are_made_anew() -> None:
    """A name that they asked for is taken, and free again; a variable's shape is not known."""
    drawn = _drawn(rows=False)
    taken = document_edits.rename_operation(drawn, "layer1/Tanh", "layer1/w/Adam")
    unshaped = value_edits.set_attr(drawn, "layer0/w", "shape", Shape((None, 2)))
    program = derive(drawn, {})
    for document in (taken, drawn, unshaped, drawn):
        program = derive(document, {}, previous=program)
        assert_same_program(program, derive(document, {}))


@pytest.mark.parametrize("touched", [1.0, incremental.MOST_TOUCHED])
def test_gradients_that_runs_compute_no_more_are_told_no_more(
    touched: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are still there, for the optimizer that is switched off."""
    monkeypatch.setattr(incremental, "MOST_TOUCHED", touched)
    on = _drawn(rows=False)
    off = on.with_(optimizers=(on.optimizers[0], replace(on.optimizers[1], enabled=False)))
    program, told = derive(on, {}), Told()
    threads = begin(program, BACKEND)
    program_info(threads.session, told)
    for document in (off, on, off):
        program = derive(document, {}, previous=program)
        threads = begin(program, BACKEND, before=threads)
        anew = begin(derive(document, {}), BACKEND)
        assert program_info(threads.session, told) == program_info(anew.session)


def test_what_updates_make_of_a_gradient_is_typed_as_that_is() -> None:
    """Of which less is known after an edit."""
    build = GraphBuilder()
    with build.as_default():
        x = build.placeholder("x", "float32", (1, 2))
        w = build.variable("w", "float32", (2, 2))
        h = tf.matmul(x, w)
        for _ in range(30):
            h = tf.tanh(h)
        loss = tf.reduce_sum(h, name="loss")
    clipped = Optimizer("Adam", {"learning_rate": 0.1}, clip="global_norm(0.1)")
    drawn = Document(
        graph=build.build(), request=GradientRequest((loss.ref,)), optimizers=(clipped,)
    )
    wide = value_edits.set_attr(drawn, "x", "shape", Shape((1, None)))
    again = derive(wide, {}, previous=derive(drawn, {}))
    assert_same_program(again, derive(wide, {}))


def test_a_shape_that_is_known_no_more() -> None:
    """What followed from it is no constant any more, though what computes it has its name."""
    build = GraphBuilder()
    with build.as_default():
        x = build.placeholder("x", "float32", UNKNOWN)
        w = build.variable("w", "float32", (2,))
        loss = tf.reduce_sum(tf.multiply(x, w), name="loss")
    before = Document(graph=build.build(), request=GradientRequest((loss.ref,), (w.ref,)))
    after = value_edits.set_attr(before, "w", "shape", Shape((None, 2)))
    again = derive(after, {}, previous=derive(before, {}))
    assert_same_program(again, derive(after, {}))
    assert again.gradients


def _edit(drawn: Document, data: st.DataObject) -> None:
    documents = [drawn]
    program = drop_unfinished(derive(documents[0], {}))
    threads, told = begin(program, BACKEND), Told()
    for _ in range(data.draw(st.integers(2, 6))):
        undo = data.draw(st.integers(0, 3)) == 0
        document = (
            data.draw(st.sampled_from(documents)) if undo else _edited(documents[-1], data.draw)
        )
        documents.append(document)
        last, program = program, drop_unfinished(derive(document, {}, previous=program))
        assert_moved_as_told(last.graph, program.graph)
        anew = drop_unfinished(derive(document, {}))
        assert_same_program(program, anew)
        threads, fresh = begin(program, BACKEND, before=threads), begin(anew, BACKEND)
        assert program_info(threads.session, told) == program_info(fresh.session)
        assert _values(threads) == _values(fresh)
