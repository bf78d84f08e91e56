"""The campaign itself: cases come by number, and what goes wrong is seen and made smaller."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradstep.core.io.native import gradstep_file
from tests.fuzz import documents, doors, graphdefs, onnx_mutants, wires
from tests.fuzz.case import MARK, Case, dice
from tests.fuzz.examples import document
from tests.fuzz.failure import ROOT, failure_of
from tests.fuzz.guided import Chosen
from tests.fuzz.kinds import kinds
from tests.fuzz.pipeline import read, try_case
from tests.fuzz.smaller import smallest

# Numbers 0 to 4: all is well; an exception; user code; no end; the process dies. Then what was
# found is printed.
PLANTED = """
import json, os, time
from tests.fuzz import workers
from tests.fuzz.failure import CodeRunError

workers.SECONDS = 0.2

def attempt(number):
    if number == 1:
        raise KeyError("planted")
    if number == 2:
        raise CodeRunError
    if number == 3:
        while True:
            pass
    if number == 4:
        os.abort()

tally = workers.Tally()
found = workers.failures(range(6), attempt, tally, time.monotonic() + 60)
kinds = {each.number: each.failure.kind for each in found}
print(json.dumps([kinds, tally.cases]))
"""


def python(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "end"), [("dev", "./dev kill"), ("CONTRIBUTING.md", "--guided by Atheris")]
)
def test_every_kind_is_named_where_the_command_is(page: str, end: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    said = text[text.index("./dev fuzz ") :].partition(end)[0]
    assert [kind for kind in kinds() if kind not in said] == []


def test_whatever_happens_to_a_case_is_told_and_the_others_are_tried() -> None:
    kinds, cases = json.loads(python("-c", PLANTED))
    assert kinds == {"1": "internal", "2": "code_run", "3": "hang", "4": "crash"}
    assert cases == 6


@pytest.mark.parametrize(
    "make",
    [documents.case, graphdefs.case, onnx_mutants.case, doors.case, doors.command_case],
)
def test_a_case_is_the_same_each_time(make: Any) -> None:
    for number in range(20):
        assert make(dice("any", 1, number)) == make(dice("any", 1, number))
    assert make(dice("any", 1, 0)) != make(dice("any", 2, 0))


@pytest.mark.slow
def test_most_mutants_are_read() -> None:
    """What is refused at once tries nothing else."""
    for make in (documents.case, graphdefs.case):
        cases = [make(dice("any", 1, number)) for number in range(40)]
        assert sum(read(case) is not None for case in cases) > 16


def test_code_that_runs_unasked_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`derive` lets it run here."""
    from gradstep.core.host import engine_service

    example = document("custom_grad_identity")
    (name, item), *_ = example.code.items()
    changed = example.with_(code={name: type(item)(name, item.kind, MARK + item.source)})
    case = Case(".gradstep", gradstep_file.to_bytes(changed))
    try_case(case, heavy=False)
    compiled = engine_service.compile_functions
    monkeypatch.setattr(
        engine_service, "compile_functions", lambda d, trusted, out: compiled(d, True, out)
    )
    with pytest.raises(Exception, match="nobody had trusted") as caught:
        try_case(case, heavy=False)
    assert failure_of(caught.value).kind == "code_run"


def test_what_is_lost_in_a_file_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fuzz import pipeline

    data = (ROOT / "assets" / "examples" / "gather.gradstep").read_bytes()
    put_together = pipeline.gradstep_file.put_together
    lost = lambda *parts: put_together(*parts).with_(title="")  # noqa: E731
    before = pipeline.gradstep_file.from_bytes(data)
    monkeypatch.setattr(pipeline.gradstep_file, "put_together", lost)
    with pytest.raises(Exception, match="another document"):
        pipeline._saved(before)


def test_the_smallest_document_that_fails_alike_is_found() -> None:
    case = Case(".gradstep", (ROOT / "assets" / "examples" / "tutorial.gradstep").read_bytes())

    wanted = read(case)
    assert wanted is not None
    kind = next(iter(wanted.graph)).type

    def has_kind(candidate: Case) -> bool:
        document = read(candidate)
        return document is not None and any(op.type == kind for op in document.graph)

    found = read(smallest(case, has_kind))
    assert found is not None
    assert [op.type for op in found.graph] == [kind]
    assert not found.feeds


@pytest.mark.parametrize("suffix", [".expression", ".console"])
def test_the_smallest_text_is_found(suffix: str) -> None:
    case = Case(suffix, b"one\ntwo bad words\nthree")
    assert smallest(case, lambda each: b"bad" in each.data).data == b"bad"


@pytest.mark.slow
def test_the_command_answers_in_json(tmp_path: Path) -> None:
    out = python("-m", "tests.fuzz", "expressions", "--cases", "30", "--json", "--forget")
    answer = json.loads(out)["expressions"]
    assert answer["cases"] == 30
    names = "internal_errors hangs lost code_run peak_mib stall_ms".split()
    assert [answer[name] for name in names[:4]] == [0, 0, 0, 0]
    assert answer["peak_mib"] > 10


def test_every_wire_has_a_number() -> None:
    """Of the smallest example: each move there is, once."""
    total, first = wires.count(), wires.examples()[0]
    back = pow(wires._STRIDE, -1, total)
    cases = [wires.case(place * back % total) for place in range(wires._ends()[0])]
    found = [case.data for case in cases if case is not None]
    assert found == [gradstep_file.to_bytes(d, readable=False) for d in wires.moves(first)]
    assert len(found) > 10


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (doors.case, 60),
        (doors.command_case, 40),
        (documents.case, 15),
        (graphdefs.case, 15),
        (onnx_mutants.case, 20),
    ],
)
@pytest.mark.slow
def test_a_small_campaign(make: Any, count: int) -> None:
    for number in range(count):
        case = make(dice("suite", 1, number))
        try:
            try_case(case, heavy=False)
        except Exception as error:
            raise AssertionError(f"case {number}: {failure_of(error).key}") from error


def test_a_command_that_nobody_foresaw_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradstep.core.cli import diff

    folder, before = Path.cwd(), dict(os.environ)
    case = Case(".command", b"diff\nHERE/gather.gradstep\nHERE/gather.gradstep")
    try_case(case, heavy=False)
    monkeypatch.setattr(diff, "execute", lambda args, app: {}[args.file])
    with pytest.raises(KeyError):
        try_case(case, heavy=False)
    assert (Path.cwd(), dict(os.environ)) == (folder, before)


def test_bytes_decide_a_case_and_few_of_them_make_one_as_well() -> None:
    """With zeros behind the last byte two different things would never be drawn."""
    assert Chosen(b"\x07").getrandbits(3) == 7
    assert Chosen(b"\xff\xff").random() == 65535 / 65536
    for data in (b"", b"\0", b"\xff"):
        first, second = Chosen(data).sample(range(2), 2), Chosen(data).sample(range(2), 2)
        assert first == second
        assert sorted(first) == [0, 1]
