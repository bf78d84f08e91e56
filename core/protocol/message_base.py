"""What every message between the window and the engine process is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import msgspec


class Message(msgspec.Struct, tag=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages. What goes over the pipe derives from Request, Reply or Event, and is
    known to it by that."""

    @classmethod
    def kinds(cls) -> list[type[Message]]:
        """Those that derive from this one, and that none derives from: they go over the pipe."""
        below = cls.__subclasses__()
        return [each for kind in below for each in kind.kinds()] if below else [cls]


class Request(Message, frozen=True, kw_only=True):
    """What the window asks. Its docstring says what it is replied to with. outlives: whether the
    answer is kept, in a file or where one pastes from, whatever document is open by then."""

    outlives: ClassVar[bool] = False


class Command(Request, frozen=True, kw_only=True):
    """What the user does, and waits for."""


class Glance(Request, frozen=True, kw_only=True):
    """What the user has just turned to; it changes nothing, and takes no time."""


class Question(Request, frozen=True, kw_only=True):
    """What can take longer than a blink, changes nothing, and gives way to what the user waits for
    meanwhile: to requests of these kinds."""

    gives_way_to: ClassVar[Sequence[type[Request]]] = (Command,)


ASIDE = Command, Glance  # to which a question gives way that the window asks by itself


class Reply(Message, frozen=True, kw_only=True):
    """What the engine answers."""


class Event(Message, frozen=True, kw_only=True):
    """What the engine says unasked. is_urgent: whether it waits for what the window does then."""

    is_urgent: ClassVar[bool] = False

    def behind(self, earlier: Self) -> Self:
        """What is left to be said of two of a kind of which neither was said yet: this one."""
        return self


def kind_of(message: Message) -> str:
    """The message's name, with the command if it has one, for the log."""
    command = getattr(message, "command", "")
    return f"{type(message).__name__} {command}".rstrip()
