"""Which places of a program are changed, and which are left out."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.bench.environments import FOLDER
from tests.mutation.areas import AREAS
from tests.mutation.tree import ROOT

PYTHON = FOLDER / "cosmic-ray" / "bin" / "python"
HERE = Path(__file__).parent
needs_cosmic_ray = pytest.mark.skipif(not PYTHON.exists(), reason="./dev mutate installs it")

PROGRAM = '''"""A program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

Value = int | float


@dataclass(frozen=True)
class Pair:
    left: int | None = None


@cache
def first(pair: Pair, wide: bool | None) -> int | None:
    assert pair.left != 7
    if isinstance(pair, int | str):
        return None
    found = pair.left
    found = found and found + 2
    return found
'''


def draw(root: Path, **request: Any) -> dict[str, Any]:
    asked = {"root": str(root), "modules": ["program.py"], "sample": 0, "seed": 1, "excused": []}
    (root / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [PYTHON, "-m", "tests.mutation.draw"],
        cwd=ROOT,
        input=json.dumps({**asked, **request}),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@needs_cosmic_ray
def test_what_can_be_seen_is_changed_and_nothing_else(tmp_path: Path) -> None:
    answer = draw(tmp_path)
    changes = {(m["before"].strip(), m["after"].strip()) for m in answer["mutants"]}
    assert ("@dataclass(frozen=True)", "") in changes
    assert ("if isinstance(pair, int | str):", "if not isinstance(pair, int | str):") in changes
    assert ("found = found and found + 2", "pass") in changes
    assert ("found = found and found + 2", "found = found or found + 2") in changes
    assert ("found = found and found + 2", "found = found and found - 2") in changes
    assert not any(word in before for before, _ in changes for word in ("Value", "assert", "def"))
    assert set(answer["left_out"]) == {
        "a guard against mistakes of ours",
        "a type alias",
        "a union of types",
        "an annotation",
        "an assertion",
        "for speed alone",
    }


@needs_cosmic_ray
def test_a_sample_is_the_same_each_time_and_part_of_a_larger_one(tmp_path: Path) -> None:
    def drawn(**request: Any) -> set[str]:
        return {mutant["source"] for mutant in draw(tmp_path, **request)["mutants"]}

    assert len(drawn(sample=4)) == 4
    assert drawn(sample=4) == drawn(sample=4) < drawn(sample=6) <= drawn()


@needs_cosmic_ray
def test_what_the_list_excuses_is_left_out(tmp_path: Path) -> None:
    mutant = draw(tmp_path)["mutants"][0]
    excused = {key: mutant[key] for key in ("file", "before", "after")}
    answer = draw(tmp_path, excused=[excused])
    assert mutant not in answer["mutants"]
    assert answer["left_out"]["equivalent, by the list"] == 1


def test_what_is_excused_is_in_the_code_and_has_a_reason() -> None:
    """Lines that were changed since are looked at anew."""
    excused = tomllib.loads((HERE / "equivalent.toml").read_text("utf-8")).get("mutant", [])
    for each in excused:
        lines = [line.strip() for line in (ROOT / each["file"]).read_text("utf-8").split("\n")]
        wanted = [line for line in each["before"].split("\n") if line]
        assert set(wanted) <= set(lines), each
        assert each["reason"].strip(), each


@pytest.mark.parametrize("area", AREAS.values(), ids=lambda area: area.name)
def test_an_area_has_modules_and_tests(area: Any) -> None:
    assert area.files(ROOT)
    assert area.test_files(ROOT)
