"""What the two ends of a pipe have to agree on, as a short text: every message and its fields."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import msgspec

from gradstep.core.protocol import messages

_PLAIN = str | int | float | bytes | None


@cache
def protocol_digest() -> str:
    """The same where the same messages are known, with the same fields, types and defaults. Two
    checkouts may be of one version, and differ in them."""
    digest = hashlib.sha256()
    for name in sorted(messages.__all__):
        kind = getattr(messages, name)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            digest.update(repr((name, _fields(kind))).encode())
    return digest.hexdigest()[:16]


def _fields(kind: type[msgspec.Struct]) -> list[tuple[str, str, str]]:
    """Name, type and default of each, as they are written; other libraries' versions are not in
    it."""
    from inspect import get_annotations  # which takes longer to load than a start should

    types: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        types |= get_annotations(base)
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    given = [_said(each) for each in defaults]
    first = len(names) - len(given)
    return [
        (name, str(types[name]), given[at - first] if at >= first else "")
        for at, name in enumerate(names)
    ]


def _said(default: Any) -> str:
    return repr(default) if isinstance(default, _PLAIN) else type(default).__name__
