"""The document that an engine holds, as its window knows it: edits cross the pipe as edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from weakref import ref as weak

from msgspec import structs

from gradstep.core.document.document import Document
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import CheckExpectations, Edit, Expect, Look, Open

Asked = TypeVar("Asked", bound=CheckExpectations | Expect)
_LEAST = 1 << 20  # bytes of edits that are kept for a restart, however small the document


class EngineDocument:
    """What was given to one engine last, by a revision number that is never used again.

    For a restart, the engine's client keeps all edits since the whole document was sent. So that is
    sent again where they would have become larger than it.
    """

    def __init__(self) -> None:
        self._held: Document | None = None
        self._revision = 0
        self._whole = 0  # bytes of the document, when it was last sent whole
        self._edits = 0  # bytes of the edits since then

    def forget(self) -> None:
        """The engine may hold something else by now, or nothing."""
        self._held = None

    def give(
        self, document: Document, settings: Open, look: Look | None = None
    ) -> tuple[Open | Edit, Sequence[Buffer]]:
        """The request that makes the engine go on with `document`, and its buffers. settings: an
        Open that says all but the revision; look: for an edit. Raises GradstepError for what cannot
        be sent."""
        edit = self._edit(document, settings, look) if settings.keep_position else None
        return edit or self._open(document, settings)

    def about(self, document: Document, request: Asked) -> tuple[Asked, Sequence[Buffer]]:
        """A request about `document`, which the engine need not keep, and its buffers."""
        if self._held is None:
            return structs.replace(request, base=-1), (_bytes_of(document),)
        members, buffers = _difference(self._held, document.with_(view=self._held.view))
        return structs.replace(request, base=self._revision, members=members), buffers

    def _edit(
        self, document: Document, settings: Open, look: Look | None
    ) -> tuple[Edit, Sequence[Buffer]] | None:
        """None where the whole document is to be sent."""
        if self._held is None:
            return None
        document = document.with_(view=self._held.view)  # which the engine does not look at
        members, buffers = _difference(self._held, document)
        self._edits += sum(map(len, buffers))
        if self._edits > max(self._whole, _LEAST):
            return None
        edit = Edit(
            base=self._revision,
            members=members,
            revision=self._revision + 1,
            trusted=settings.trusted,
            confined=settings.confined,
            device=settings.device,
            recorded_limit=settings.recorded_limit,
            look=look,
        )
        self._hold(document)
        return edit, buffers

    def _open(self, document: Document, settings: Open) -> tuple[Open, Sequence[Buffer]]:
        data = _bytes_of(document)
        self._whole, self._edits = len(data), 0
        self._hold(document)
        return structs.replace(settings, revision=self._revision), (data,)

    def _hold(self, document: Document) -> None:
        self._held = document
        self._revision += 1


_ahead: dict[int, tuple[weak[Document], bytes]] = {}  # of one document at most, by its identity


def write_ahead(document: Document) -> None:
    """Beside the thread that will give it to the engine: have its bytes at hand. Raises
    GradstepError for what cannot be sent."""
    from gradstep.core.io.native import gradstep_file

    data, key = gradstep_file.to_bytes_beside(document), id(document)
    _ahead.clear()
    _ahead[key] = weak(document, lambda _: _ahead.pop(key, None)), data


def _bytes_of(document: Document) -> bytes:
    from gradstep.core.io.native import gradstep_file  # loads NumPy, which the window needs later

    known, data = _ahead.pop(id(document), (None, b""))
    if known is not None and known() is document:
        return data
    return gradstep_file.to_bytes(document, readable=False)


def _difference(before: Document, after: Document) -> tuple[list[str], list[bytes]]:
    from gradstep.core.io.native.document_diff import differences

    return differences(before, after).to_buffers()
