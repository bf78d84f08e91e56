"""The one exception that users see: what is wrong, where, and what to do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

USAGE = "UsageError"  # the kind of an error that is about how it was asked, as a command line is

_LOG = logging.getLogger("gradstep")
_LOG.addHandler(logging.NullHandler())  # who wants to read it gives it another one
_logged: set[tuple[str, str]] = set()


class GradstepError(Exception):
    """A failure in the user's graph, input or file; never a bug in Gradstep itself.

    kind:    TensorFlow's error class where it has one ("InvalidArgumentError"), else a plain
             noun ("FileError", "UnknownOpError", "UntrustedCodeError").
    message: one line, TensorFlow's words where it has any.
    node:    name of the operation it concerns, or None.
    index:   position inside that operation's tensor, or None.
    hint:    what the user can do about it; may be empty.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "InvalidArgumentError",
        node: str | None = None,
        index: tuple[int, ...] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.node = node
        self.index = index
        self.hint = hint

    @property
    def place(self) -> str:
        """The node that it is located at; "" for none, and where the message names it already."""
        return self.node if self.node and self.node not in self.message else ""

    def at(self, node: str) -> GradstepError:
        """The same failure, located at `node` unless it already has a place."""
        if self.node is None:
            self.node = node
        return self

    def as_kind(self, old: str, new: str) -> GradstepError:
        """The same failure as kind `new` where it is of kind `old`: TensorFlow calls what is wrong
        with an operation a ValueError while it is drawn, an InvalidArgumentError as it runs."""
        if self.kind == old:
            self.kind = new
        return self

    def bare(self) -> GradstepError:
        """The same failure without the frames that it came through, for whoever keeps it: they hold
        all that their functions had at hand, whole documents among it."""
        self.__context__ = self.__cause__ = None
        return self.with_traceback(None)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.message, self.kind, self.node, self.index, self.hint)


class Interrupted(KeyboardInterrupt):
    """Ctrl+C: the user breaks off what is under way. A plain KeyboardInterrupt may come from the
    user's code as well, which is an error like others there."""


def error_text(error: GradstepError) -> str:
    """An error in one line, and its hint in the next."""
    place = f" (at {error.place})" if error.place else ""
    message = " ".join(error.message.split())
    return f"{message}{place}" + (f"\n  {error.hint}" if error.hint else "")


def unforeseen(what: str, error: BaseException, node: str | None = None) -> GradstepError:
    """The error that users see where Python raised what nobody foresaw: `what` could not be done,
    in our words. Python's own go to the log, once."""
    key = what, repr(error)
    if key not in _logged:
        _logged.add(key)
        _LOG.error("%s (at %s)", what, node, exc_info=error)
    return GradstepError(
        what,
        kind="InternalError",
        node=node,
        hint="look at its inputs and attributes; where they are right, Gradstep is not: please "
        "report it with this document",
    )


@contextmanager
def only_errors_of_ours(what: str) -> Iterator[None]:
    """Whatever else is raised inside becomes the error that `what` could not be done."""
    try:
        yield
    except GradstepError:
        raise
    except Exception as error:
        raise unforeseen(what, error) from error


def _rebuild(
    message: str, kind: str, node: str | None, index: tuple[int, ...] | None, hint: str
) -> GradstepError:
    return GradstepError(message, kind=kind, node=node, index=index, hint=hint)
