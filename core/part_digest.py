"""A digest of several parts, that tells where one ends and the next begins."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def digest(parts: Iterable[bytes | str]) -> str:
    """SHA-256, in hexadecimal digits; of text, of its UTF-8."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()
