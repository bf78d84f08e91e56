"""The fingerprint of a document's Python: its functions, and the program that calls them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from weakref import WeakKeyDictionary

import msgspec

from gradstep.core.document.dataset import short_text
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation, variations
from gradstep.core.errors import GradstepError
from gradstep.core.part_digest import digest

# What its Python never gets to see: how a document is looked at, stepped through and told of.
_BESIDE = Document()
_WORDS = ("view", "breakpoints", "watches", "title", "note", "claim", "truth", "group")

_known: WeakKeyDictionary[Document, str] = WeakKeyDictionary()


def fingerprint(document: Document) -> str:
    """SHA-256 (hex) of a document's Python and of all that decides with what it is called: graph,
    feeds, initial values, gradients asked for, optimizers, threads, what a run computes, and what
    expectations change of that. "" without Python. Documents that are the same but for places,
    breakpoints, watches, words and what is expected have the same one.

    It costs as much as writing the document; the second time nothing. Raises GradstepError
    (FileError) for a document that no file can hold.
    """
    if not document.code:
        return ""
    if document not in _known:
        _known[document] = _digest(document)
    return _known[document]


def _digest(document: Document) -> str:
    from gradstep.core.io.native.document_records import take_apart

    bare = {name: getattr(_BESIDE, name) for name in _WORDS}
    if document.data is not None:  # wherever the files lie
        texts = {name: short_text(text) for name, text in document.data.columns.items()}
        bare["data"] = replace(document.data, columns=texts)
    written = take_apart(document.with_(**bare, expectations=tuple(_varied(document))))
    written.document.version = 0  # another version writes the same program
    try:
        record = msgspec.json.encode(written.document, order="deterministic")
    except UnicodeEncodeError as error:
        raise GradstepError(f"a name cannot be saved as text: {error}", kind="FileError") from None
    members = (part for name in sorted(written.members) for part in (name, written.members[name]))
    return digest([record, *members])


def _varied(document: Document) -> Iterator[Expectation]:
    """Of what is expected, only what is fed and asked while that is checked."""
    for when in variations(document.expectations):
        if when != Variation():
            yield Expectation("", "", ExpectationKind.FAILS, when=when)
