"""The page of the lints says of each what the table says, and no more lints than there are."""

from __future__ import annotations

import re
from pathlib import Path

from gradstep.core.checks.doctor.lint_subjects import SUBJECTS

PAGE = (Path(__file__).parents[4] / "docs" / "doctor.md").read_text(encoding="utf-8")


def test_each_lint_has_its_section_in_the_order_of_the_table() -> None:
    assert re.findall(r"^## `(.+)`$", PAGE, re.MULTILINE) == [each.code for each in SUBJECTS]


def test_sections_say_what_the_table_says() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    for subject, section in zip(SUBJECTS, sections, strict=True):
        assert f"**{subject.title}.** {subject.why}" in section
        assert "- Looks at: " in section
        assert "- Passes over: " in section
        assert ("Needs a finished run" in section) == subject.of_runs
        assert (f"Example: `{subject.example}`" in section) == bool(subject.example)
