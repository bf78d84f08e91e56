"""Attribute values that a file holds and Gradstep has no value for: kept, and written back."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.errors import GradstepError


@dataclass(frozen=True, slots=True)
class Unread:
    """data: TensorFlow's AttrValue, serialised. why, hint: what it is that Gradstep does not read,
    and what can be done about it."""

    data: bytes
    why: str
    hint: str = ""

    def error(self, node: str, attribute: str) -> GradstepError:
        """For who needs the value of an attribute of `node`."""
        return GradstepError(
            f"attribute '{attribute}': {self.why}",
            kind="UnimplementedError",
            node=node,
            hint=self.hint,
        )

    def __str__(self) -> str:
        return self.why
