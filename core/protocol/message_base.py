"""What every message between the window and the engine process is."""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, tag=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages."""


def kind_of(message: Message) -> str:
    """The message's name, with the command if it has one, for the log."""
    command = getattr(message, "command", "")
    return f"{type(message).__name__} {command}".rstrip()
