"""docs/decisions.md: its index by subject names every decision, once, and leads to it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "decisions.md"


def test_the_index_leads_to_every_decision() -> None:
    text = PAGE.read_text(encoding="utf-8")
    decisions = re.findall(r'^(\d+)\. <a id="d(\d+)"></a>\*\*', text, flags=re.MULTILINE)
    numbers = [int(number) for number, anchor in decisions if number == anchor]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == len(re.findall(r"^\d+\. ", text, flags=re.MULTILINE))
    entries = re.findall(r"\[(\d+)\]\(#d(\d+)\) \S", text)
    assert all(shown == anchor for shown, anchor in entries)
    assert sorted(int(shown) for shown, _ in entries) == numbers
