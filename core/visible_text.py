"""Texts of a document as people are shown them: what hides, reorders or commands is written out."""

from __future__ import annotations

import re

# Control characters but for tab and line ends; marks, embeddings, overrides and isolates of
# direction; separators of lines that are none here; what stands for no byte.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    "|\r(?!\n)"
)


def visible(text: str) -> str:
    r"""`text` with an escape for each character that a terminal obeys or that changes the order
    of those around it: an escape character is `\u001b`, as JSON and Python write it."""
    return _UNSEEN.sub(_escape, text)


def writable(text: str) -> str:
    """`text` with an escape for what UTF-8 has no bytes for: half of a pair of surrogates, as names
    of files have it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
