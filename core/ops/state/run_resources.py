"""Tensor arrays and stacks of one run, by the names that their handles hold.

A handle is a value like any other, as in TensorFlow: it may be pushed on a stack, and an iteration
of a loop makes arrays of its own. So what they hold is no variable that a wire leads to, but one
object for the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.ops.state.stack import Stack
from gradstep.core.ops.state.tensor_array import TensorArray

Held = TensorArray | Stack
_Held = TypeVar("_Held", TensorArray, Stack)
_NONE: Mapping[str, Held] = MappingProxyType({})


def text_of(handle: Any) -> str:
    """The name that a handle is; "" of what is none, of whatever type."""
    only = handle.item() if getattr(handle, "size", 0) == 1 else None
    return only if isinstance(only, str) else ""


@dataclass(frozen=True, slots=True, eq=False)
class RunArrays(OpaqueState):
    """held: by handle. added: bytes that it keeps beyond the one that it was made from."""

    held: Mapping[str, Held] = field(default_factory=lambda: _NONE)
    added: int = 0

    def made(self, name: str, what: Held) -> tuple[np.ndarray, RunArrays]:
        """The handle of a new array or stack, called `name` and numbered."""
        handle = f"{name}_{len(self.held)}"
        return np.array(handle, object), self.with_(handle, what)

    def with_(self, handle: str, what: Held, added: int = 0) -> RunArrays:
        """The same with `what` for what `handle` has held."""
        return RunArrays({**self.held, handle: what}, added)

    def array(self, handle: Any) -> tuple[str, TensorArray]:
        """The handle as text, and its array. Raises GradstepError."""
        return self._found(handle, TensorArray)

    def stack(self, handle: Any) -> tuple[str, Stack]:
        """The handle as text, and its stack. Raises GradstepError."""
        return self._found(handle, Stack)

    def _found(self, handle: Any, kind: type[_Held]) -> tuple[str, _Held]:
        name, found = text_of(handle), self.at(handle)
        if isinstance(found, kind):
            return name, found
        what = "this" if found is None else f"'{name}'"
        raise GradstepError(
            f"{what} is the handle of no {kind.noun()} of this run",
            hint=f"wire the handle of a {kind.noun()} to it",
        )

    def at(self, handle: Any) -> OpaqueState | None:
        return self.held.get(text_of(handle))

    @property
    def nbytes(self) -> int:
        return self.added

    def __str__(self) -> str:
        return "\n".join(f"{handle}: {what}" for handle, what in self.held.items())
