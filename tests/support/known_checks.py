"""Checks of expectations whose answer is known: a test that opens an example has it checked once
more, which takes as long as to derive and begin it, and next to none is about that.

Each is really made the first time in a process, by whichever test asks first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from gradstep.core.host.engine_service import Answer, EngineService
from gradstep.core.host.held_document import NO_REVISION
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer

Handler = Callable[[EngineService, Any, Sequence[Buffer]], Answer]

_opened: WeakKeyDictionary[EngineService, bytes] = WeakKeyDictionary()  # not edited since
_answers: dict[Hashable, Answer] = {}


def handlers(real: Mapping[type, Handler]) -> dict[type, Handler]:
    """`real`, of EngineService, where what is known is not found out again."""

    def open_(service: EngineService, request: m.Open, buffers: Sequence[Buffer]) -> Answer:
        _opened.pop(service, None)
        answer = real[m.Open](service, request, buffers)
        if not request.edits:
            _opened[service] = bytes(buffers[0])
        return answer

    def edit(service: EngineService, request: m.Edit, buffers: Sequence[Buffer]) -> Answer:
        _opened.pop(service, None)
        return real[m.Edit](service, request, buffers)

    def check(
        service: EngineService, request: m.CheckExpectations, buffers: Sequence[Buffer]
    ) -> Answer:
        document = _document(service, request, buffers)
        if document is None:
            return real[m.CheckExpectations](service, request, buffers)
        asked = *document, request.trusted, request.confined
        if asked not in _answers:
            _answers[asked] = real[m.CheckExpectations](service, request, buffers)
        return _answers[asked]

    return {**real, m.Open: open_, m.Edit: edit, m.CheckExpectations: check}


def _document(
    service: EngineService, request: m.CheckExpectations, buffers: Sequence[Buffer]
) -> Sequence[Hashable] | None:
    """What is to be checked: a document, or what it differs in from the one that was opened. None
    where nobody can tell."""
    sent = *request.members, *map(bytes, buffers)
    if request.base == NO_REVISION:
        return sent
    held, opened = service._loaded, _opened.get(service)
    known = held is not None and held.revision == request.base and opened is not None
    return (opened, *sent) if known else None
