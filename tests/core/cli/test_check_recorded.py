"""Checks of a trace, in a terminal and in the window: gradients are those that were recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.checks.gradients.recorded_disagreement import recorded_disagreement
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation
from gradstep.core.graph.model import Constant
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.io.traces.traced_document import from_trace
from gradstep.core.program.derive import derive
from gradstep.core.protocol import messages as m
from tests.core.cli.conftest import Cli
from tests.core.io.traces.test_lost_gradients import partly
from tests.core.io.traces.written_traces import WrittenTrace
from tests.examples.build import FOLDER


def test_gradients_that_are_bent_on_purpose_are_not_held_against_those_recorded(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "net.gstrace"
    path.write_bytes(plain(2.0))
    for bend in (["--stop", "loss/Mul"], ["--override", "Mul=Maximum"]):
        found = cli("check", path, *bend, "--json").json
        assert not [p for p in found["problems"] if p["code"] == "recorded-gradient"]


@pytest.mark.parametrize("saved", [False, True])
def test_a_check_holds_gradients_against_those_recorded(
    cli: Cli, tmp_path: Path, saved: bool
) -> None:
    path = tmp_path / "net.gstrace"
    path.write_bytes(partly().packed("sum_0"))
    if saved:
        gradstep_file.save(tmp_path / "net.gradstep", read(path))
        path = tmp_path / "net.gradstep"
    found = cli("check", path, "--json")
    assert found.status == 1
    assert not found.json["passed"]
    (problem,) = found.json["problems"]
    assert (problem["node"], problem["code"]) == ("net/b", "recorded-gradient")
    assert "is None here, and of norm 6 as torch 9.9 recorded it" in problem["text"]
    assert "soup_0" in problem["text"]
    assert "1 is not what was recorded" in found.json["conclusion"]


def plain(gradient: float, value: float = 10.0) -> bytes:
    """loss = a x at 5 and 2: its gradient is 2."""
    trace = WrittenTrace()
    trace.given("x", [2.0])
    trace.given("a", [5.0], [gradient], trained=True)
    trace.node("loss", "aten.mul.Tensor", {"self": "@x", "other": "@a"}, [value], [1.0])
    return trace.packed("loss")


@pytest.mark.parametrize(
    ("gradient", "value", "status", "severity", "words"),
    [
        (2.0, 10.0, 0, None, ""),
        (2.0 + 1e-5, 10.0, 0, None, ""),
        (2.01, 10.0, 1, "error", "of norm 2 here, and of norm 2.01 as torch 9.9 recorded it"),
        (-2.0, 10.0, 1, "error", "(apart by 4)"),
        (np.nan, 10.0, 1, "error", "and of norm nan"),
        (2.01, 11.0, 0, "warning", "it is 10 here, and was 11 as torch 9.9 recorded it"),
    ],
)
def test_what_is_another_gradient(
    cli: Cli,
    tmp_path: Path,
    gradient: float,
    value: float,
    status: int,
    severity: str | None,
    words: str,
) -> None:
    """Beyond rounding; where the loss is another number already, that is what is said."""
    path = tmp_path / "net.gstrace"
    path.write_bytes(plain(gradient, value))
    found = cli("check", path, "--json")
    assert found.status == status
    problems = [p for p in found.json["problems"] if p["code"] == "recorded-gradient"]
    assert [p["severity"] for p in problems] == ([severity] if severity else [])
    assert all(words in p["text"] for p in problems)


def test_another_thing_that_is_differentiated_was_not_recorded(cli: Cli, tmp_path: Path) -> None:
    trace = partly()
    (tmp_path / "net.gstrace").write_bytes(trace.packed("sum_0"))
    found = cli("check", tmp_path / "net.gstrace", "--of", "ax/Mul", "--wrt", "net/a")
    assert found.status == 0


def test_a_gradient_that_lacks_a_part_is_never_printed_alone(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "net.gstrace"
    path.write_bytes(partly().packed("sum_0"))
    warned = "warning: net/b: its gradient lacks what came back through soup_0"
    for verb in ("grad", "why"):
        assert cli(verb, path).out.startswith(warned)
        (problem,) = cli(verb, path, "--json").json["problems"]
        assert problem["code"] == "recorded-gradient"
        other = cli(verb, path, "--wrt", "net/a")
        assert other.status == 0
        assert "warning" not in other.out


def test_what_the_document_expects_is_no_error() -> None:
    program = derive(from_trace(plain(2.01)))
    (found,) = recorded_disagreement(program, {"a"})
    assert found.severity == "warning"


def checked(service: EngineService, document: Document) -> str:
    service.handle(m.Open(), (gradstep_file.to_bytes(document),))
    table, _ = service.handle(m.CheckGradients(), ())
    assert isinstance(table, m.GradientTable)
    return table.text


def test_what_the_document_expects_is_said_as_the_command_line_says_it(
    service: EngineService, cli: Cli, tmp_path: Path
) -> None:
    """Its known causes: a gradient that it gives, as it is, and that holds in the first run."""
    document = from_trace(plain(2.01))
    known = Expectation("It is 2.", 'grad["a"]', value=Constant(np.float32(2)))
    wrong = Expectation("It is 3.", 'grad["a"]', value=Constant(np.float32(3)))
    later = Expectation("It is 2.", 'grad["a"]', value=Constant(np.float32(2)), run=1)
    apart = "its gradient is of norm 2 here, and of norm 2.01 as torch 9.9 recorded it"
    for expected, is_known in ((known, True), (wrong, False), (later, False)):
        expecting = document.with_(expectations=(expected,))
        gradstep_file.save(tmp_path / "net.gradstep", expecting)
        said, found = checked(service, expecting), cli("check", tmp_path / "net.gradstep")
        assert ("The gradient of a is not what was recorded" in said) is not is_known
        assert (f"a: {apart}" in said and said.endswith("as the document expects.")) is is_known
        assert (f"warning: a: {apart}" in found.out) is is_known
        assert ("1 is not what was recorded, as the document expects" in found.out) is is_known
        assert found.status == (0 if is_known else 1)


def test_that_the_loss_was_another_number_is_said(service: EngineService) -> None:
    assert "loss/Mul: it is 10 here, and was 11 as torch 9.9" in checked(
        service, from_trace(plain(2.01, 11.0))
    )


def test_a_gradient_that_is_wrong_as_expected_is_said_to_be(
    service: EngineService, cli: Cli
) -> None:
    """Of an example whose gradient is wrong on purpose, in the words of the command line."""
    document = read(FOLDER / "assign_in_loop.gradstep")
    said = checked(service, document)
    assert "differs from finite differences, as the document expects." in said
    assert said in cli("check", FOLDER / "assign_in_loop.gradstep").out
