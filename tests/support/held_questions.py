"""Questions of panels that an engine in this process gives up, when the test says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gradstep.core.protocol import messages as m

Held = list[Callable[[], None]]


def hold(bench: Any, monkeypatch: pytest.MonkeyPatch, kind: type[m.Request]) -> Held:
    """Questions of a kind are not answered any more, but given up when one says so."""
    send, held = bench.bridge.send, Held()

    def holding(
        message: m.Message, buffers: Sequence[Any] = (), then: Any = lambda *_: None
    ) -> None:
        if isinstance(message, kind):
            bench.bridge.asked.append(message)
            held.append(lambda: then(m.GaveWay(), ()))
        else:
            send(message, buffers, then)

    monkeypatch.setattr(bench.bridge, "send", holding)
    return held


def give_up(held: Held) -> None:
    for each in [held.pop(0) for _ in range(len(held))]:
        each()
