"""What is known of the examples without opening them: assets/examples/index.json."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gradstep.core.errors import GradstepError
from gradstep.core.json_text import UNREADABLE, pretty

if TYPE_CHECKING:
    from gradstep.core.document.document import Document

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
INDEX = "index.json"

_WORD = re.compile(r"[^\W_]{2,}")
_MARKED = re.compile(r"(\*\*|\*|`)(?=\S)(.+?)(?<=\S)\1")


class ExampleEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """name: the file's, without its ending; sentence: the first of its note; disputed: whether a
    popular claim is held against the truth; code: the hash of its Python, if it has any; program:
    of that and of what calls it (gradstep.core.program.trust.code_fingerprint); words: all that it
    can be found by, small letters."""

    name: str
    title: str
    sentence: str
    group: str
    disputed: bool = False
    code: str = ""
    program: str = ""
    words: str = ""


def is_bundled(path: Path) -> bool:
    """Whether a file came with the program: who can change it could change the program."""
    return EXAMPLES in Path(os.path.normpath(path.absolute())).parents


def entry_of(name: str, document: Document) -> ExampleEntry:
    """The entry of the document in the file `name`.gradstep."""
    from gradstep.core.program.trust.code_fingerprint import fingerprint

    return ExampleEntry(
        name=name,
        title=plain(document.title),
        sentence=first_sentence(document.note),
        group=document.group,
        disputed=bool(document.truth),
        code=document.code_hash,
        program=fingerprint(document),
        words=" ".join(sorted(_words(document))),
    )


def to_bytes(entries: Sequence[ExampleEntry]) -> bytes:
    """The file of `entries`, in the order in which they are to be read."""
    return pretty(msgspec.to_builtins(list(entries))).encode()


def load(folder: Path) -> list[ExampleEntry]:
    """The index of the examples in `folder`. Raises GradstepError."""
    try:
        return msgspec.json.decode((folder / INDEX).read_bytes(), type=list[ExampleEntry])
    except (OSError, *UNREADABLE) as error:
        raise GradstepError(f"{folder / INDEX}: {error}", kind="FileError") from None


def first_sentence(note: str) -> str:
    """The first sentence of a note, without its marks."""
    paragraph = " ".join(note.strip().partition("\n\n")[0].split())
    head, dot, _ = plain(paragraph).partition(". ")
    return head + ("." if dot else "")


def plain(marked: str) -> str:
    """One line of light Markdown without its marks."""
    return _MARKED.sub(r"\2", marked)


def _words(document: Document) -> set[str]:
    texts = [document.title, document.note, document.claim, document.truth, document.group]
    texts += {op.type for op in document.graph}
    texts += [override.gradient for override in document.request.overrides]
    texts += [expectation.text for expectation in document.expectations]
    texts += [optimizer.type for optimizer in document.optimizers]
    return {word for text in texts for word in _WORD.findall(text.lower())}
