"""What trust is about: the same after saving and opening, wherever nodes stand."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import given, settings

from core.io import store
from core.io.document import CodeItem, CodeKind, Document, View
from core.io.fingerprint import fingerprint
from tests.core.io.documents import documents

FEW = settings(max_examples=20, deadline=None)
BESIDE = {"view", "breakpoints", "title", "note", "claim", "truth", "group", "expectations"}
CODE = {"f": CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return x\n")}


@FEW
@given(documents)
def test_a_document_has_the_same_after_saving_and_opening(document: Document) -> None:
    document = document.with_(code={**document.code, **CODE})
    assert fingerprint(store.from_bytes(store.to_bytes(document))) == fingerprint(document)


@FEW
@given(documents, documents)
def test_whatever_the_python_may_see_counts_and_nothing_else(one: Document, two: Document) -> None:
    one = one.with_(code=CODE)
    for name in (field.name for field in fields(Document)):
        changed = one.with_(**{name: getattr(two, name)})
        if not changed.code:
            assert fingerprint(changed) == ""
        elif name in BESIDE:
            assert fingerprint(changed) == fingerprint(one)
        elif store.to_bytes(changed) != store.to_bytes(one):
            assert fingerprint(changed) != fingerprint(one), name


def test_without_python_there_is_none() -> None:
    assert fingerprint(Document(title="words", view=View(positions={"a": (1.0, 2.0)}))) == ""
