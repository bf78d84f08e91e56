"""Edits that mend what is explained: each bug is named, its remedy tried, and taken it mends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.checks.why.edit_trial import Trial, is_mended, try_edit
from gradstep.core.checks.why.trial_words import rows_of, words_of_trial
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.checks.why.why_remedies import find_remedies
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import NamedEdit
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name, label_of
from gradstep.core.document.repairs import scaled
from gradstep.core.document.value_edits import set_initial
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.host.branch_answers import manage
from gradstep.core.host.edit_trials import try_remedy
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from gradstep.core.program.gradient_context import situation_of
from gradstep.core.protocol.messages import ManageBranches, TryEdit

LOSS, X = TensorRef("loss"), TensorRef("x")


def _log(b: GraphBuilder, x: Tensor) -> Tensor:
    return b.one("Log", x, name="node")


def _chosen_log(b: GraphBuilder, x: Tensor) -> Tensor:
    f = b.one("Log", x, name="node")
    return b.one("SelectV2", b.one("Greater", x, np.float64(0)), f, b.one("ZerosLike", x))


def _log_softmax(b: GraphBuilder, x: Tensor) -> Tensor:
    return b.one("Log", b.one("Softmax", x, name="p"), name="node")


def _quotient(b: GraphBuilder, x: Tensor) -> Tensor:
    return b.one("RealDiv", b.constant(np.ones(3)), x, name="node")


def _straight(b: GraphBuilder, x: Tensor) -> Tensor:
    return b.one("Floor", x, name="node")


def _cond(b: GraphBuilder, x: Tensor) -> Tensor:
    p = b.placeholder("p", "bool", ())
    return tf.cond(p, lambda: tf.multiply(x, x, name="node"), lambda: tf.zeros_like(x))


@dataclass(frozen=True)
class Case:
    """make: what the loss is the sum of; x: what the variable begins with; edit: the one that is
    best; slope: what the gradient is then, None for finite differences."""

    make: Callable[[GraphBuilder, Tensor], Tensor]
    x: list[float]
    cause: str
    edit: NamedEdit
    slope: list[float] | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    of_value: bool = False
    node: str = "node"


def _unary(type: str, **attrs: Any) -> Callable[[GraphBuilder, Tensor], Tensor]:
    return lambda b, x: b.one(type, x, name="node", **attrs)


STOP = {"stopped_edges": frozenset({Edge("node", 0)})}
BENT = {"overrides": (Override("Floor", "node", OverrideKind.OP),)}
CASES = {
    "logarithm": Case(
        _log,
        [0, 1, 2],
        "log_of_zero",
        ("add_epsilon", ("node<0", "1e-7")),
        [1e7, 1, 0.5],
    ),
    "override": Case(
        _unary("Square"), [1, 2, 3], "override", ("native", ("node",)), [2, 4, 6], BENT
    ),
    "where": Case(
        _chosen_log,
        [0, 1, 2],
        "log_of_zero",
        ("safe_where", ("node<0", "SelectV2", "1", "1")),
        [0, 1, 0.5],
    ),
    "softmax": Case(_log_softmax, [0, 900, 1], "log_of_zero", ("log_softmax", ("node", "p"))),
    "negative": Case(
        _log, [-1, 1, 2], "log_of_negative", ("keep_above", ("node<0", "1e-7")), [0, 1, 0.5],
        of_value=True,
    ),
    "root": Case(
        _unary("Sqrt"),
        [0, 1, 4],
        "root_at_zero",
        ("add_epsilon", ("node<0", "1e-12")),
        [0.5e6, 0.5, 0.25],
    ),
    "quotient": Case(
        _quotient, [0, 1, 2], "division_by_zero", ("div_no_nan", ("node",)), [0, -1, -0.25]
    ),
    "exponent": Case(
        _unary("Exp"), [800, 1, 2], "overflow", ("keep_below", ("node<0", "700")),
        [0, np.exp(1), np.exp(2)],
    ),
    "rounding": Case(
        _straight,
        [0.5, 1.5, 2.25],
        "not_differentiable",
        ("override", ("Identity", "node", "op")),
        [1, 1, 1],
    ),
    "stop": Case(_unary("Square"), [1, 2, 3], "stopped", ("unstop", ("node<0",)), request=STOP),
    "stopping node": Case(
        _unary("StopGradient"), [1, 2, 3], "not_differentiable", ("let_through", ("node",))
    ),
    "dead units": Case(
        _unary("Relu"), [-1, -2, -3], "inactive", ("leak", ("node",)), [0.1, 0.1, 0.1]
    ),
    "branch": Case(_cond, [1, 2, 3], "untaken", ("feed", ("p:0", "true")), node="cond/node"),
}  # fmt: skip


def _document(case: Case) -> Document:
    b = GraphBuilder()
    with b.as_default():
        x = b.variable("x", DType.FLOAT64, shape=(3,))
        y = case.make(b, x)
        b.one("Sum", y, np.array([0], np.int32), name="loss")
    feeds = {"p:0": Constant(np.array(False))} if "p" in b.build() else {}
    request = GradientRequest((LOSS,), (X,), **case.request)
    initial = {"x": Constant(np.array(case.x, np.float64))}
    return Document(graph=b.build(), request=request, initial=initial, feeds=feeds)


def _run(document: Document) -> tuple[DebugSession, float, np.ndarray | None]:
    session = DebugSession(derive(document, {}))
    session.continue_()
    frame = session.frame()
    loss, slope = frame.value(LOSS), frame.gradient(X)
    return session, float(np.nan if loss is None else loss), slope


def _differences(document: Document, at: np.ndarray) -> list[float]:
    found = []
    for index in range(at.size):
        step = np.zeros(at.size)
        step[index] = 1e-6 * max(abs(at[index]), 1e-3 if at[index] else 1e-2)
        up, down = (_run(set_initial(document, "x", at + s))[1] for s in (step, -step))
        found.append((up - down) / (2 * step[index]))
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_bug_is_named_its_remedy_tried_and_taken(name: str) -> None:
    case = CASES[name]
    document = _document(case)
    session, loss, _ = _run(document)
    here, stop = situation_of(session, {}), session.stop
    asked = Explainer(here, {}, session.backend, session, stop.run, stop.step)
    found = asked.value("loss") if case.of_value else asked.gradient("loss", "x")
    assert (found.cause, found.node) == (case.cause, case.node)
    best = find_remedies(document, found)[0]
    assert best == case.edit
    trial = try_edit(session, best, LOSS, (X,))
    taken = edit_by_name(document, *best)
    _, mended, gradient = _run(taken)
    # what was tried is what comes of it
    assert trial.before.loss == pytest.approx(loss, nan_ok=True)
    assert trial.after.loss == pytest.approx(mended, nan_ok=True)
    assert gradient is not None
    assert trial.after.norm == pytest.approx(float(np.linalg.norm(gradient)))
    assert is_mended(trial.before, trial.after)
    assert "That mends it." in words_of_trial(trial)
    # and it is the gradient
    wanted = case.slope or _differences(taken, np.array(case.x, np.float64))
    assert gradient.tolist() == pytest.approx(wanted, rel=1e-4, abs=1e-7)
    assert label_of(*best)
    # nothing has moved
    assert (session.stop, len(session.branches.all)) == (stop, 1)


def test_counts_say_what_is_broken_zero_and_missing() -> None:
    session, _, _ = _run(_document(CASES["where"]))
    trial = try_edit(session, CASES["where"].edit, LOSS, (X,))
    assert (trial.before.broken, trial.before.elements) == (1, 3)
    assert (trial.after.broken, trial.after.zero, trial.after.missing) == (0, 1, ())
    table = {what: (before, after) for what, before, after in rows_of(trial)}
    assert table["NaN or infinite"] == ("1 of 3", "0 of 3")
    assert table["exactly 0"] == ("0 of 3", "1 of 3")
    session, _, _ = _run(_document(CASES["stop"]))
    trial = try_edit(session, CASES["stop"].edit, LOSS, (X,))
    assert (trial.before.missing, trial.before.norm) == (("x",), None)
    assert {r[0]: r[1:] for r in rows_of(trial)}["tensors with None"] == ("1", "0")


def test_an_edit_that_mends_nothing_is_said_to() -> None:
    document = _document(CASES["logarithm"])
    session, _, _ = _run(document)
    for edit, words in (
        (("keep_below", ("node<0", "700")), "That changes nothing."),
        (("keep_below", ("node<0", "1.5")), "It is not mended by that alone."),
        (("keep_above", ("node<0", "0.5")), "That mends it."),
    ):
        trial: Trial = try_edit(session, edit, LOSS, (X,))
        assert is_mended(trial.before, trial.after) == ("mends it" in words)
        assert words in words_of_trial(trial)
    fine, _, _ = _run(set_initial(document, "x", np.ones(3)))
    trial = try_edit(fine, ("add_epsilon", ("node<0", "1e-7")), LOSS, (X,))
    assert "Nothing was broken" in words_of_trial(trial)


def _layers(first: float, second: float, activation: str) -> Document:
    """Two layers, the first of them behind an activation."""
    b, rng = GraphBuilder(), np.random.default_rng(3)
    with b.as_default():
        data = b.constant(rng.normal(size=(16, 4)), name="data")
        w, v = (b.variable(n, DType.FLOAT64, shape=s) for n, s in (("w", (4, 4)), ("v", (4, 2))))
        hidden = b.one(activation, b.one("MatMul", data, w, name="z"), name="hidden")
        y = b.one("MatMul", hidden, v, name="y")
        b.one("Sum", y, np.array([0, 1], np.int32), name="loss")
    sizes = (("w", (4, 4), first), ("v", (4, 2), second))
    return Document(
        graph=b.build(),
        request=GradientRequest.to("loss", "w", "v"),
        initial={n: Constant(rng.normal(size=s) * k) for n, s, k in sizes},
    )


@pytest.mark.parametrize(
    ("document", "cause", "kind", "first"),
    [
        (_layers(1, 0, "Tanh"), "zero_factor", "draw", "v"),
        (_layers(1e4, 1, "Tanh"), "saturated", "scale", "w"),
    ],
    ids=["zeros", "saturated"],
)
def test_weights_begin_otherwise(document: Document, cause: str, kind: str, first: str) -> None:
    """Which is tried from the first run on."""
    session, _, _ = _run(document)
    session.continue_()
    here, stop = situation_of(session, {}), session.stop
    asked = Explainer(here, {}, session.backend, session, stop.run, stop.step)
    found = asked.gradient("loss", "w")
    assert found.cause == cause
    edit = find_remedies(document, found)[0]
    assert (edit[0], edit[1][0]) == (kind, first)
    w = TensorRef("w")
    for _ in range(4):  # a factor may be needed more than once
        trial = try_edit(session, edit, LOSS, (w,))
        assert (trial.first, trial.run) == (0, 1)
        document = edit_by_name(document, *edit)
        if kind == "scale":  # of these numbers, and no others
            with pytest.raises(GradstepError, match="does not begin any more with the numbers"):
                edit_by_name(document, *edit)
            edit = find_remedies(document, found)[0]
        session, _, _ = _run(document)
        session.continue_()
        slope = session.frame().gradient(w)
        assert slope is not None
        assert trial.after.norm == pytest.approx(float(np.linalg.norm(slope)))
        if is_mended(trial.before, trial.after) or np.any(slope):
            break
    assert np.any(slope)


def test_what_variables_begin_with_is_not_edited_in_a_later_run() -> None:
    threads = Scheduler(derive(_layers(1e4, 1, "Tanh")))
    wanted = ManageBranches(command="edit", kind="scale", edited=["w", "0.1"])
    assert "from run 1 on, on branch b1" in manage(threads, wanted)
    for _ in range(2):
        threads.command("continue_")
    with pytest.raises(GradstepError, match="would change nothing from run 2 on"):
        manage(threads, wanted)
    with pytest.raises(GradstepError, match="would change nothing from run 2 on"):
        try_edit(threads.session, ("scale", ("w", "0.1")), LOSS, (TensorRef("w"),))
    assert len(threads.session.branches.all) == 2


def test_a_bound_is_that_of_what_the_wire_carries() -> None:
    """Whatever other variables are of."""
    document = _document(CASES["exponent"])
    session, _, _ = _run(document)
    here, stop = situation_of(session, {}), session.stop
    found = Explainer(here, {}, session.backend, session, stop.run, stop.step).value("loss")
    first = {"before": Constant(np.zeros(3, np.float32)), **document.initial}
    assert find_remedies(document.with_(initial=first), found)[0] == CASES["exponent"].edit


def test_an_edit_that_is_made_already_is_not_made_twice() -> None:
    """As where a branch's edit was made in the document, and the branch is shown."""
    for name, case in CASES.items():
        taken = edit_by_name(_document(case), *case.edit)
        try:
            again = edit_by_name(taken, *case.edit)
        except GradstepError:
            continue
        assert again.graph.operations == taken.graph.operations, name
        for part in (each.name for each in fields(Document) if each.name != "graph"):
            assert getattr(again, part) == getattr(taken, part), (name, part)
        program = derive(taken)
        assert program.edited is not None
        with pytest.raises(GradstepError, match="it is so already"):
            program.edited(program, [case.edit])
    taken = edit_by_name(_document(CASES["negative"]), *CASES["negative"].edit)
    kind, (at, _) = CASES["negative"].edit
    assert edit_by_name(taken, kind, (at, "0.5")) is not taken, "that is another one"
    kind, names = CASES["where"].edit
    taken = edit_by_name(_document(CASES["where"]), kind, names)
    assert edit_by_name(taken, kind, (*names[:3], "2")) is not taken, "that is another one"


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_factor_that_is_taken_is_not_applied_again_on_its_branch(times: int, taken: int) -> None:
    """The document has the first `taken` of the edits of a branch, each of which scales what the
    one before it left."""
    document, edits = _layers(1e4, 1, "Tanh"), list[NamedEdit]()
    session = DebugSession(derive(document))
    documents = [document]
    for _ in range(times):
        edits.append(("scale", scaled(documents[-1], "w", "0.1")))
        documents.append(edit_by_name(documents[-1], *edits[-1]))
        session.edit(*edits[-1])
    branches, name = session.branches.all, session.branches.current
    after = DebugSession(derive(documents[min(taken, times)]))
    after.branches.take_over(branches, name)
    after.lead()
    fresh = DebugSession(derive(documents[times]))
    for one in (session, after, fresh):
        one.continue_()
    for ref in map(TensorRef, ("w", "z", "loss")):
        wanted = fresh.frame().value(ref)
        assert wanted is not None
        for one in (session, after):
            found = one.frame().value(ref)
            assert found is not None
            assert found.tobytes() == wanted.tobytes(), ref


def test_beside_a_value_is_what_comes_of_loss_and_gradient() -> None:
    document = _document(CASES["negative"])
    session, _, _ = _run(document)
    kind, names = CASES["negative"].edit
    said = try_remedy(session, document, TryEdit(kind=kind, names=[*names], of="node"))
    rows = {row.what: (row.before, row.after) for row in said.rows}
    assert rows["NaN or infinite in node"] == ("1 of 3", "0 of 3")
    assert rows["NaN or infinite"] == ("0 of 3", "0 of 3")
    assert rows["loss"][0] == "NaN"
    assert said.text.startswith(
        "In run 1, node is NaN or infinite in 1 of 3 elements without it, and in 0 of 3 with it; "
        "loss is NaN without it, and "
    )
    assert said.mends
    of_loss = try_remedy(session, document, TryEdit(kind=kind, names=[*names], of="loss"))
    assert [row.what for row in of_loss.rows][:2] == ["loss", "norm of the gradient"]
    aside = try_remedy(session, document, TryEdit(kind=kind, names=[*names], of="x", wrt=["x"]))
    assert aside.rows[0].what == "x", "a gradient that is asked about is that one"


def test_a_feed_over_a_value_is_left_out() -> None:
    """So that the loss follows what it is computed from."""
    b = GraphBuilder()
    with b.as_default():
        x = b.variable("x", DType.FLOAT64, shape=(3,))
        y = tf.square(x, name="y")
        b.one("Sum", y, np.array([0], np.int32), name="loss")
    document = Document(
        b.build(),
        GradientRequest.to("loss", "x"),
        feeds={"y:0": Constant(np.zeros(3))},
        initial={"x": Constant(np.array([1.0, 2.0, 3.0]))},
    )
    session, loss, _ = _run(document)
    assert loss == 0
    here, stop = situation_of(session, {}), session.stop
    found = Explainer(here, {}, session.backend, session, stop.run, stop.step).gradient("loss", "x")
    assert found.cause == "fed"
    assert find_remedies(document, found) == [("unfeed", ("y:0",))]
    trial = try_edit(session, ("unfeed", ("y:0",)), LOSS, (X,))
    assert (trial.before.loss, trial.after.loss) == (0, 14)
    taken = edit_by_name(document, "unfeed", ["y:0"])
    assert taken.feeds == {}
    with pytest.raises(GradstepError, match="is not fed over its value"):
        edit_by_name(taken, "unfeed", ["y:0"])
