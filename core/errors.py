"""The one exception that users see: what is wrong, where, and what to do."""

from __future__ import annotations


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

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.message, self.kind, self.node, self.index, self.hint)


def _rebuild(
    message: str, kind: str, node: str | None, index: tuple[int, ...] | None, hint: str
) -> GradstepError:
    return GradstepError(message, kind=kind, node=node, index=index, hint=hint)
