"""The whole reference page: contents first, then every op by subject and family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gradstep.core.ops.declare.op_subjects import (
    Catalogue,
    capitalized,
    catalogue,
    family_title,
    subject_title,
)
from gradstep.core.ops.declare.table import OpDef, all_ops
from gradstep.core.reference.op_entry import entry
from gradstep.core.reference.tf_function_list import functions

_INTRODUCTION = """\
# Ops

Every op type that Gradstep has: {count} of them, {differentiable} with a gradient. This page is \
written from the op table by `./dev docs`; a test fails where the two differ.

Formulas are text that the tests evaluate and compare with the kernel. Gradients were found by \
differentiating each op on its first sample, with `L` for what is differentiated, and rendered \
from the operations that this makes, whose types stand in brackets: numbers in them are that \
sample's shapes. Where a formula would be too long, only the types are named. An input that is \
*on the host* says how and not what (a shape, an axis). None means no gradient, which is not zero.
"""


def page() -> str:
    """docs/ops.md as the table makes it."""
    definitions = list(all_ops())
    subjects = catalogue(definitions)
    introduction = _INTRODUCTION.format(
        count=len(definitions), differentiable=sum(d.gradient.differentiable for d in definitions)
    )
    sections = [section for name in subjects for section in _subject(name, subjects[name])]
    contents = [*_contents(subjects, sections), "- **[Functions](#functions)**", ""]
    return "\n".join([introduction, *contents, "\n\n".join([*sections, functions()]), ""])


def _subject(name: str, families: Mapping[str, Sequence[OpDef]]) -> Iterator[str]:
    yield f"## {capitalized(subject_title(name))}"
    for family, definitions in families.items():
        yield f"### {capitalized(family_title(family))}"
        yield from map(entry, definitions)


def _contents(subjects: Catalogue, sections: Sequence[str]) -> Iterator[str]:
    """A line a subject, a line a family with its ops; each a link."""
    links = iter(_links(section.partition("\n")[0] for section in sections))
    for families in subjects.values():
        count = sum(map(len, families.values()))
        yield f"- **{next(links)}** ({count})"
        for definitions in families.values():
            family = next(links)
            ops = " · ".join(next(links) for _ in definitions)
            yield f"  - {family} ({len(definitions)}): {ops}"


def _links(headings: Iterable[str]) -> Iterator[str]:
    """Links to headings, in order: of equal ones, all but the first are numbered in their link."""
    seen: dict[str, int] = {}
    for heading in headings:
        text = heading.lstrip("# ")
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = seen[anchor] = seen.get(anchor, -1) + 1
        yield f"[{text}](#{anchor}{f'-{count}' if count else ''})"
