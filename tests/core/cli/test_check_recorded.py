"""gradstep check of a trace: its gradients are those that were recorded, or it does not pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.checks.gradients.recorded_disagreement import recorded_disagreement
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.io.traces.traced_document import from_trace
from gradstep.core.program.derive import derive
from tests.core.cli.conftest import Cli
from tests.core.io.traces.test_lost_gradients import partly
from tests.core.io.traces.written_traces import WrittenTrace


def test_gradients_that_are_bent_on_purpose_are_not_held_against_those_recorded(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "net.gstrace"
    path.write_bytes(_plain(2.0))
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


def _plain(gradient: float, value: float = 10.0) -> bytes:
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
    path.write_bytes(_plain(gradient, value))
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
    program = derive(from_trace(_plain(2.01)))
    (found,) = recorded_disagreement(program, {"a"})
    assert found.severity == "warning"
