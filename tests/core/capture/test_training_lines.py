"""The lines of a training that is followed: what they say, and what is none of them."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.capture.training_lines import (
    LONGEST,
    EndOfTraining,
    Greeting,
    SavedStep,
    TrainedStep,
    TrainingLine,
    read_line,
)
from gradstep.core.errors import GradstepError
from tests.support.each_case import each_of
from tests.support.fake_training import GREETING

LINES = [
    (GREETING, Greeting("Net", "/home/me/work/train.py", 4711, "2.13.0", 2)),
    ({"step": 3, "loss": 0.5}, TrainedStep(3, 0.5)),
    (
        {"step": 3, "loss": 1, "gradient": {"a": 2}, "weight": {"a": 1e400}},
        TrainedStep(3, 1.0, {"a": 2.0}, {"a": math.inf}),
    ),
    ({"saved": "/bad.gstrace", "step": 7, "why": "isnan(loss)"},
     SavedStep("/bad.gstrace", 7, "isnan(loss)")),
    ({"ended": 9, "error": ""}, EndOfTraining(9, "")),
]  # fmt: skip


@pytest.mark.parametrize(("said", "meant"), LINES)
def test_each_sort_of_line(said: Any, meant: TrainingLine) -> None:
    assert read_line(json.dumps(said).encode()) == meant


def test_numbers_that_json_has_not() -> None:
    found = read_line(b'{"step": 1, "loss": NaN, "gradient": {"a": -Infinity}}')
    assert isinstance(found, TrainedStep)
    assert math.isnan(found.loss)
    assert found.gradient == {"a": -math.inf}


@each_of(
    ("line", "why"),
    [
        (b"{", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (b"[" * 60000, "is no JSON"),
        (b"[1]", "is no JSON object"),
        (b"{}", "is none of its lines"),
        (b'{"step": 1}', '"loss" is no number'),
        (b'{"step": 1, "loss": true}', '"loss" is no number'),
        (b'{"step": 1, "loss": ' + b"9" * 4000 + b"}", '"loss" is no number'),
        (b'{"step": 1, "loss": ' + b"9" * 5000 + b"}", "is no JSON"),
        (b'{"step": -1, "loss": 0}', '"step" is no whole number'),
        (b'{"step": 0, "loss": 0}', '"step" is no whole number from 1 on'),
        (b'{"step": 1.5, "loss": 0}', '"step" is no whole number'),
        (b'{"step": 99999999999999, "loss": 0}', '"step" is no whole number'),
        (b'{"step": 1, "loss": 0, "gradient": [1]}', '"gradient" is no table'),
        (b'{"step": 1, "loss": 0, "weight": {"a": "1"}}', '"weight" is no number'),
        (b'{"saved": 1, "step": 1, "why": ""}', '"saved" is no text'),
        (b" " * (LONGEST + 1), "a line of more than 65,536 bytes"),
    ],
)
def test_what_is_no_line_is_said_in_one_sentence(line: bytes, why: str) -> None:
    with pytest.raises(GradstepError, match=f"no training that can be followed.*{why}") as found:
        read_line(line)
    assert "\n" not in found.value.message
    assert len(found.value.message) < 300


def test_another_version_says_what_to_do() -> None:
    with pytest.raises(GradstepError, match="version 2") as found:
        read_line(json.dumps(GREETING | {"version": 2}).encode())
    assert found.value.hint == "save the exporter anew: gradstep capture torch"


@given(st.binary(max_size=300) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["step", "loss", "gradient", "saved", "why", "ended", "gradstep"]), inner),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_nothing_else_comes_of_any_bytes(line: bytes) -> None:
    with suppress(GradstepError):
        assert isinstance(read_line(line), TrainingLine)


@pytest.mark.parametrize(
    ("script", "title", "name"),
    [
        ("/a/train.py", "Net", "train.py"),
        ("notebook", "Net", "notebook"),
        ("", "Net", "Net"),
        ("", "", "a training"),
    ],
)
def test_what_it_is_called(script: str, title: str, name: str) -> None:
    assert Greeting(title, script, 1, "", 0).name == name
