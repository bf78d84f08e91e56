"""What runs on several devices sent from one to another, for people and as an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.placed_backend import PlacedBackend
from gradstep.core.io.disk.memory_budget import in_words


def placement_lines(backend: Backend) -> Iterator[str]:
    """One for each other device that did something."""
    for name, counts in placement_object(backend).items():
        sent, back = counts["sent"], counts["fetched"]
        yield (
            f"{name}: sent {_values(sent)}, {in_words(counts['sent_bytes'])}; "
            f"got {_values(back)}, {in_words(counts['fetched_bytes'])}"
        )


def placement_object(backend: Backend) -> Mapping[str, Mapping[str, Any]]:
    """Device -> how many values went there and came back, and their bytes; empty where all was done
    on one."""
    if not isinstance(backend, PlacedBackend):
        return {}
    moved, none = backend.transfers, [0, 0]
    names = sorted({*moved.sent, *moved.fetched})
    pairs = {name: (moved.sent.get(name, none), moved.fetched.get(name, none)) for name in names}
    return {
        name: {"sent": s[0], "sent_bytes": s[1], "fetched": f[0], "fetched_bytes": f[1]}
        for name, (s, f) in pairs.items()
    }


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"
