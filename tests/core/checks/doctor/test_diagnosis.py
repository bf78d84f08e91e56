"""All lints over one document: switched off, exempt at a node, bounded, total, and linear."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from gradstep.core.checks.doctor import diagnosis
from gradstep.core.checks.doctor.diagnosis import diagnose
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint_table import BY_CODE, LINTS
from gradstep.core.document.document import Document
from gradstep.core.document.lint_remedies import exempt, mend
from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from tests.support.diagnosing import drawn

EXAMPLES = Path(__file__).parents[4] / "assets" / "examples"


def squashed(count: int = 1) -> Document:
    """So many softmaxes of softmaxes."""

    def draw(b: GraphBuilder) -> None:
        x = b.variable("x", shape=[2, 2])
        for number in range(count):
            p = tf.nn.softmax(x, name=f"p{number}")
            x = tf.nn.softmax(p, name=f"q{number}") if count == 1 else p
        tf.reduce_sum(x, name="loss")

    return drawn(draw, "loss", ["x"], initial={"x": [[0.0, 1.0], [1.0, 0.0]]})


def codes(document: Document, off: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    found = diagnose(Examined(document, derive(document)), off)
    return [(each.lint.code, each.finding.node) for each in found]


def test_a_lint_that_is_off_says_nothing() -> None:
    assert codes(squashed()) == [("softmax-twice", "q0")]
    assert codes(squashed(), ("softmax-twice",)) == []


def test_a_node_that_is_exempt_from_it_is_not_said_and_stays_so_in_the_file() -> None:
    document = exempt(squashed(), "q0", "softmax-twice")
    assert codes(document) == []
    assert codes(gradstep_file.from_bytes(gradstep_file.to_bytes(document))) == []
    assert not derive(document).problems


def test_of_another_lint_it_is_not_exempt_and_one_can_be_added() -> None:
    other = exempt(squashed(), "q0", "log-by-hand")
    assert codes(other) == [("softmax-twice", "q0")]
    assert codes(exempt(other, "q0", "softmax-twice")) == []


def test_what_is_said_is_bounded() -> None:
    assert len(codes(squashed(40))) == 12


def test_a_lint_that_fails_takes_nothing_with_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(x: Examined) -> list[object]:
        raise ZeroDivisionError("planted")

    broken = replace(BY_CODE["idle-update"], looks=fail)  # type: ignore[arg-type]
    monkeypatch.setattr(diagnosis, "LINTS", (broken, *LINTS))
    assert codes(squashed()) == [("softmax-twice", "q0")]
    assert "the lint idle-update failed" in caplog.text


def test_an_empty_and_an_unfinished_document_have_no_findings() -> None:
    assert codes(Document()) == []
    document = squashed()
    cut = [replace(op, inputs=(None,)) if op.name == "p0" else op for op in document.graph]
    assert isinstance(codes(document.with_(graph=type(document.graph).of(cut))), list)


def test_a_remedy_that_there_is_not_is_an_error() -> None:
    with pytest.raises(GradstepError, match="there is no edit 'pray'"):
        mend(Document(), "pray", ())


def test_every_lint_has_a_code_of_its_own_and_an_example_that_there_is() -> None:
    assert len(BY_CODE) == len(LINTS)
    assert {lint.subject.example for lint in LINTS} - {""} <= {
        path.stem for path in EXAMPLES.glob("*.gradstep")
    }


@pytest.mark.slow
def test_ten_times_the_operations_take_about_ten_times_as_long() -> None:
    """With so much slack that a busy machine does not matter, and what is quadratic does."""

    def seconds(count: int) -> float:
        document = squashed(count)
        x = Examined(document, derive(document))
        assert x.inference
        start = time.process_time()
        diagnose(x)
        return time.process_time() - start

    seconds(100)
    assert seconds(4000) < 40 * max(seconds(400), 0.005)
