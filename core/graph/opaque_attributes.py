"""Attribute values that a file holds and Gradstep has no value for: kept, and written back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unread:
    """data: TensorFlow's AttrValue, serialised. why, hint: what it is that Gradstep does not read,
    and what can be done about it."""

    data: bytes
    why: str
    hint: str = ""

    def __str__(self) -> str:
        return self.why
