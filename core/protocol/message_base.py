"""What every message between the window and the engine process is."""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, tag=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages."""
