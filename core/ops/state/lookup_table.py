"""What a lookup table holds, as one value that never changes.

Rules and words are TensorFlow's (lookup_table_op.h).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.state.opaque_state import SHOWN, OpaqueState


@dataclass(frozen=True, eq=False)
class LookupTable(OpaqueState):
    """entries: key -> value; None before it is initialised."""

    key: DType
    value: DType
    entries: Mapping[Any, Any] | None = None

    @property
    def nbytes(self) -> int:
        return 64 * len(self)

    def __len__(self) -> int:
        return 0 if self.entries is None else len(self.entries)

    def __str__(self) -> str:
        if self.entries is None:
            return "not initialized"
        shown = [f"{_text(k)}: {_text(v)}" for k, v in islice(self.entries.items(), SHOWN)]
        return f"{len(self)}: {{{', '.join(shown)}{', …' if len(self) > SHOWN else ''}}}"

    def filled(self, keys: Any, values: Any) -> LookupTable:
        """With these entries. One that has some already keeps them, if they are as many."""
        if keys.shape != values.shape:
            raise GradstepError(
                f"Expected shape {list(keys.shape)} for value, got {list(values.shape)}",
                hint="give one value for each key",
            )
        entries: dict[Any, Any] = {}
        for key, value in zip(elements(keys), elements(values), strict=True):
            if entries.setdefault(key, value) != value:
                raise _wrong(
                    "HashTable has different value for same key. Key "
                    f"{_text(key)} has {_text(entries[key])} and trying to add value {_text(value)}"
                )
        if self.entries is None:
            return LookupTable(self.key, self.value, entries)
        if len(entries) != len(self.entries):
            raise _wrong("Table was already initialized with different data.")
        return self

    def find(self, keys: Any, default: Any) -> np.ndarray:
        """The value of each key; of those that it has not, `default`."""
        if self.entries is None:
            raise _wrong("Table not initialized.", "run the operation that initialises the table")
        (missing,) = elements(default)
        found = np.empty(keys.size, self.value.numpy)
        found[:] = [self.entries.get(key, missing) for key in elements(keys)]
        return found.reshape(keys.shape)


def elements(array: Any) -> Sequence[Any]:
    """The elements of an array, text as bytes."""
    return [x.encode() if isinstance(x, str) else x for x in np.asarray(array).ravel().tolist()]


def _text(x: Any) -> str:
    return x.decode(errors="replace") if isinstance(x, bytes) else str(x)


def _wrong(message: str, hint: str = "a table is initialised once") -> GradstepError:
    return GradstepError(message, kind="FailedPreconditionError", hint=hint)
