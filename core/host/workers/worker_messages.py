"""What a pool and its processes say to each other: records of plain data.

Never pickled, since a document's Python may run in there and say anything.
"""

from __future__ import annotations

from typing import Any

from gradstep.core.program.sandbox import Profile
from gradstep.core.protocol.message_base import Message
from gradstep.core.protocol.message_parts import ErrorInfo


class Begin(Message, frozen=True, kw_only=True):
    """The first. confined: without network and files, but those in `read` and `write`."""

    confined: bool = False
    profile: Profile = Profile.ENGINE
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


class Work(Message, frozen=True, kw_only=True):
    """Call `function` of `module` with these arguments. Answered by News, then Done or NotDone."""

    module: str
    function: str
    arguments: list[Any]


class Stop(Message, frozen=True, kw_only=True):
    """End what is being done, as soon as it looks."""


class News(Message, frozen=True, kw_only=True):
    """How far it is."""

    what: dict[str, Any]


class Done(Message, frozen=True, kw_only=True):
    """What the function gave."""

    result: Any


class NotDone(Message, frozen=True, kw_only=True):
    """Why it gave nothing, or could not even begin."""

    error: ErrorInfo


Order = Begin | Work | Stop
Answer = News | Done | NotDone
