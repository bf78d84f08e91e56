"""Values by name to be looked at: who writes to them is told how to change what they are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from gradstep.core.errors import GradstepError


class ReadOnlyValues(Mapping[str, np.ndarray]):
    """Arrays by name. Raises GradstepError (TypeError) for who writes to it, or to one of its
    arrays. way: how these values are changed, for the hint."""

    def __init__(self, values: Mapping[str, np.ndarray], way: str) -> None:
        self._values = {name: _looked_at(array, way) for name, array in values.items()}
        self._way = way

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr({name: np.asarray(array) for name, array in self._values.items()})

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise _error(self._way)

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse


class ReadOnlyArray(np.ndarray):
    """An array that cannot be written to, and says so. What is computed of it is a plain array."""

    way = ""

    def __array_finalize__(self, of: Any) -> None:
        self.way = getattr(of, "way", "")

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.flags.writeable:
            raise _error(self.way)
        super().__setitem__(key, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        for out in options.get("out", ()):
            if isinstance(out, ReadOnlyArray) and not out.flags.writeable:
                raise _error(out.way)
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        return getattr(ufunc, method)(*map(_plain, inputs), **options)


def _looked_at(array: np.ndarray, way: str) -> ReadOnlyArray:
    view = array.copy().view(ReadOnlyArray)
    view.way = way
    view.flags.writeable = False
    return view


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, ReadOnlyArray) else value


def _error(way: str) -> GradstepError:
    return GradstepError(
        "these values are a copy to look at: writing to them would change nothing",
        kind="TypeError",
        hint=way,
    )
