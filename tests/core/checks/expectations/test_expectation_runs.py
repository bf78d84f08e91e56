"""What a document says of its runs is held against them: what is wrong is caught."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.expectations.expectation_runs import check_expectations
from gradstep.core.checks.gradients.check_conclusion import conclusion
from gradstep.core.cli.output.check_text import text as check_text
from gradstep.core.document import document_edits, request_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.user_code import functions_of
from gradstep.core.protocol.messages import (
    CheckedExpectation,
    CheckExpectations,
    Expectations,
    Failed,
)
from tests.core.conftest import EXAMPLES
from tests.examples.expect import different, equal, fails, gradient, holds, none, value
from tests.support import conds

FED = Variation(feeds={"at:0": Constant(np.int32(7))})
ELSEWHERE = Variation(of=(TensorRef("y"),), wrt=(TensorRef("t"),), initial={"w": Constant([[5.0]])})


@pytest.fixture(scope="module")
def document() -> Document:
    """loss = sum of w², learning w by gradient descent at 0.25 a step; y = t[at]; and an operation
    that no run computes."""
    g = GraphBuilder()
    w = g.variable("w", shape=[1, 2])
    g.one("Sum", g.one("Square", w, name="square"), g.constant([0, 1], "int32"), name="loss")
    t, at = g.variable("t", shape=[20]), g.placeholder("at", "int32", shape=[])
    g.one("GatherV2", t, at, g.constant(0, "int32"), name="y")
    g.one("Floor", g.placeholder("unfed"), name="never")
    return Document(
        graph=g.build(),
        request=GradientRequest.to("loss", "w", "t"),
        initial={"w": Constant([[1.0, -2.0]]), "t": Constant(np.arange(20, dtype=np.float32))},
        feeds={"at:0": Constant(np.int32(3))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.25}),),
        fetches=(TensorRef("y"),),
    )


RIGHT = [
    value("loss", 5.0, ""),
    value("w", [[0.5, -1.0]], ""),
    value("w", [[0.25, -0.5]], "", run=1),
    value("t", np.arange(20.0), ""),
    value("y", 7.0, "", when=FED),
    gradient("w", [[2, -4]], ""),
    gradient("w", [[1, -2]], "", run=1),
    gradient("t", None, ""),
    gradient("t", np.eye(20)[3], "", when=Variation(of=(TensorRef("y"),))),
    equal("norm(grad['w'])", "2 * sqrt(x['loss'])", ""),
    equal('x["w"] - x["w"] + inf - inf', float("nan"), ""),
    different('x["w"]', [[1.0, -2.0]], ""),
    different('x["w"]', [1.0, -2.0, 3.0], ""),
    holds('abs(x["w"]) <= 1', ""),
    none('x["never"]', ""),
    fails("y", "InvalidArgumentError", "= 20 is not in [0, 20)", "",
          when=Variation(feeds={"at:0": Constant(np.int32(20))})),
    fails("w", "", "", "", when=ELSEWHERE),
]  # fmt: skip
WRONG = [
    (value("loss", 5.001, ""), "5"),
    (value("w", [[0.5, 1.0]], ""), "[[0.5, -1]]"),
    (value("w", [[0.5, -1.0]], "", run=1), "[[0.25, -0.5]]"),
    (value("w", [0.5, -1.0], ""), "shape [1, 2], not [2]"),
    (value("t", np.arange(20) + 2 * np.eye(20)[13], ""), "13 at [13], not 15"),
    (value("loss", float("nan"), ""), "5"),
    (value("los", 5.0, ""), "no operation named 'los'"),
    (value("never", 0.0, ""), "not computed"),
    (value("y", 7.0, ""), "3"),
    (gradient("w", None, ""), "[[2, -4]]"),
    (gradient("ww", None, ""), "no operation named 'ww'"),
    (gradient("t", 0.0, ""), "no gradient"),
    (equal('x["w"]', 'x["t"]', ""), "shape [1, 2], not [20]"),
    (different('x["w"]', [[0.5, -1.0]], ""), "[[0.5, -1]]"),
    (holds('x["w"] > 0', ""), "[[True, False]]"),
    (none('x["y"]', ""), "3"),
    (fails("", "", "", ""), "no failure"),
    (fails("loss", "", "is not in", "", when=Variation(feeds={"at:0": Constant(np.int32(20))})),
     "InvalidArgumentError: "),
    (value("loss", 5.0, "", run=1, when=Variation(feeds={"at:0": Constant(np.int32(20))})),
     "a run before it failed"),
    (value("y", 3.0, "", when=Variation(device="gpu:other")), "not available"),
]  # fmt: skip


def _check(document: Document, *expectations: Expectation) -> list[CheckedExpectation]:
    asked = document.with_(expectations=expectations)
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(asked))  # as a file holds them
    return check_expectations(again, {}, CpuOnly().open_backend)


def test_what_is_right_holds(document: Document) -> None:
    found = _check(document, *RIGHT)
    assert [(e.what, e.came) for e in found if not e.ok] == []


def test_whatever_is_wrong_is_caught_with_what_came(document: Document) -> None:
    found = _check(document, *(e for e, _ in WRONG))
    for checked, (_, came) in zip(found, WRONG, strict=True):
        assert not checked.ok, checked
        assert came in checked.came
    said = conclusion([], None, found)
    assert check_text(said, None, found).count("NOT OK") == len(WRONG)
    assert (said.passed, said.text) == (False, f"failed: 0 of {len(WRONG)} expectations hold")


def test_what_is_dead_and_what_a_loop_left_can_be_expected() -> None:
    """A branch that is not taken has no value; a loop's last iteration has."""
    taken = none('x["cond/scaled"]', "")
    found = _check(conds.document((-1, -2)), taken, value("cond/scaled", 0, ""))
    assert [(e.ok, "branch not taken" in e.came) for e in found] == [(True, True), (False, True)]
    loop = gradstep_file.load(EXAMPLES / "while_loop.gradstep")
    assert _check(loop, equal('x["while/Mul"]', 'x["while/Exit_1"]', ""))[0].ok


def test_the_tolerances_are_the_expectations_own(document: Document) -> None:
    near, far = (value("loss", 5.01, "", rtol=rtol, atol=0) for rtol in (3e-3, 1e-3))
    assert [e.ok for e in _check(document, near, far)] == [True, False]


def test_renaming_an_operation_renames_it_in_expectations(document: Document) -> None:
    mine = document.with_(expectations=(RIGHT[1], RIGHT[7], RIGHT[15], RIGHT[9], RIGHT[8]))
    for old, new in (("w", "a/w"), ("y", "x"), ("at", "index"), ("t", "table"), ("loss", "grad")):
        mine = document_edits.rename_operation(mine, old, new)
    found = check_expectations(mine, {}, CpuOnly().open_backend)
    assert [(e.what, e.came) for e in found if not e.ok] == []


@pytest.mark.parametrize(
    "name", ["adam_freezing", "lstm", "override_add_compared", "stop_gradient_paths", "gan"]
)
def test_after_an_edit_the_program_before_it_makes_no_difference(name: str) -> None:
    """What the variations take of it is what they would have derived."""
    document = gradstep_file.load(EXAMPLES / f"{name}.gradstep")
    functions, _ = functions_of(document.code.values(), trusted=True)
    known = derive(document, functions)
    edge = next(edges[0] for edges in document.graph.consumers.values() if edges)
    first = next(iter(document.graph.operations))
    for edited in (
        document,
        request_edits.toggle_stop(document, edge),
        document_edits.disconnect(document, edge),
        document_edits.rename_operation(document, first, f"{first}_other"),
    ):
        anew, again = (
            check_expectations(edited, functions, CpuOnly().open_backend, before)
            for before in (None, known)
        )
        assert again == anew


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": None}, "needs a value"),
        ({"other": "x['b']"}, "not both"),
        ({"what": "loss"}, "not known"),
        ({"run": -1}, "negative"),
        ({"rtol": float("nan")}, "negative"),
    ],
)
def test_what_could_not_be_checked_is_refused(change: dict[str, object], words: str) -> None:
    whole = {"text": "t", "what": 'x["a"]', "kind": ExpectationKind.EQUALS, "value": Constant(1)}
    with pytest.raises(GradstepError, match=words):
        Expectation(**{**whole, **change})  # type: ignore[arg-type]


def test_the_engine_checks_beside_the_open_session(
    document: Document, example: Callable[[str], bytes]
) -> None:
    service = EngineService(CpuOnly())
    mine = document.with_(expectations=(RIGHT[0], WRONG[0][0]))
    reply, _ = service.handle(CheckExpectations(trusted=True), (gradstep_file.to_bytes(mine),))
    assert isinstance(reply, Expectations)
    assert [e.ok for e in reply.checked] == [True, False]
    assert isinstance(service.handle(CheckExpectations())[0], Failed)


@pytest.mark.parametrize("shape", [(), (3,), (20,)])
def test_a_value_of_any_kind_is_held_against_one_of_any_kind(shape: tuple[int, ...]) -> None:
    """Text is no number, and equals none."""
    dtypes = ("float32", "int32", "bool", "complex64", "string", "float16", "uint64")
    kinds = {each: np.ones((), object if each == "string" else each) for each in dtypes}
    kinds["string"][()] = b"1"
    g = GraphBuilder()
    for name, one in kinds.items():
        g.constant(np.full(shape, one), name, name=f"a/{name}")
    asked = [
        (name, other, of_shape, judge(f'x["a/{name}"]', np.full(of_shape, kinds[other]), ""))
        for name in kinds
        for other in kinds
        for of_shape in {(), shape}
        for judge in (equal, different)
    ]
    document = Document(graph=g.build())
    for (name, other, _, e), found in zip(
        asked, _check(document, *(e for *_, e in asked)), strict=True
    ):
        alike = (name == "string") == (other == "string")
        assert found.ok == (alike == (e.kind is ExpectationKind.EQUALS)), (name, other, found)
