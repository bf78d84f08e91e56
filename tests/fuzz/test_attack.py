"""Cases that failed once, each the smallest that did: they do not fail any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.campaign import kept
from tests.fuzz.case import Case
from tests.fuzz.pipeline import try_case


@pytest.mark.parametrize("path", kept(), ids=lambda path: path.name)
def test_what_failed_once_does_not_any_more(path: Path) -> None:
    try_case(Case(path.suffix, path.read_bytes()), heavy=True)
