"""SECURITY.md promises nothing that no test holds: each test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 10
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{name}"


def test_every_promise_names_what_holds_it() -> None:
    promised = PAGE.partition("## What is promised")[2].partition("## What is not")[0]
    points = [line for line in promised.splitlines() if line.startswith("- ")]
    assert all("`tests/" in point or "`core/" in point for point in points)
    assert "](SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
