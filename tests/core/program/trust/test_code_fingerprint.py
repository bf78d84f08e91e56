"""What trust is about: the same after saving and opening, wherever nodes stand."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given, settings

from gradstep.core.document.document import CodeItem, CodeKind, Document, View
from gradstep.core.document.expectation import Expectation, Variation
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.trust.code_fingerprint import fingerprint
from tests.core.io.documents import documents
from tests.support.drawn_share import share

FEW = settings(max_examples=share(20), deadline=None)
BESIDE = {"view", "breakpoints", "watches", "title", "note", "claim", "truth", "group"}
CODE = {"f": CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return x\n")}


@FEW
@given(documents)
@pytest.mark.slow
def test_a_document_has_the_same_after_saving_and_opening(document: Document) -> None:
    document = document.with_(code={**document.code, **CODE})
    assert fingerprint(gradstep_file.from_bytes(gradstep_file.to_bytes(document))) == fingerprint(
        document
    )


@FEW
@given(documents, documents)
@pytest.mark.slow
def test_whatever_the_python_may_see_counts_and_nothing_else(one: Document, two: Document) -> None:
    one = one.with_(code=CODE)
    for name in (field.name for field in fields(Document)):
        changed = one.with_(**{name: getattr(two, name)})
        if name == "expectations":
            continue  # see below
        if not changed.code:
            assert fingerprint(changed) == ""
        elif name in BESIDE:
            assert fingerprint(changed) == fingerprint(one)
        elif gradstep_file.to_bytes(changed) != gradstep_file.to_bytes(one):
            assert fingerprint(changed) != fingerprint(one), name


def test_what_is_fed_while_an_expectation_is_checked_counts() -> None:
    """Its Python is called with that; what is expected of it is not."""

    def fed(text: str, value: float, **when: object) -> Document:
        one = Expectation(text, 'x["y"]', value=Constant(value), when=Variation(**when))
        return Document(code=CODE, expectations=(one,))

    other = {"feeds": {"x": Constant("/etc/passwd")}}
    assert (
        fingerprint(fed("a", 1.0)) == fingerprint(fed("b", 2.0)) == fingerprint(Document(code=CODE))
    )
    assert fingerprint(fed("a", 1.0, **other)) == fingerprint(fed("b", 2.0, **other))
    assert fingerprint(fed("a", 1.0, **other)) != fingerprint(fed("a", 1.0))


def test_without_python_there_is_none() -> None:
    assert fingerprint(Document(title="words", view=View(positions={"a": (1.0, 2.0)}))) == ""
