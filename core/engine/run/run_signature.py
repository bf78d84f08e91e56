"""What a session's callers ask for, looked up once: tensors for names, and what is fed to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gradstep.core.engine.run.feed_values import convert_feed, infer_fed_types
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef

_Shapes = tuple[tuple[int, ...], ...]
_KEPT_SHAPES = 64


class Signature:
    """Runs that one plan does. fed: types of what is fed, in the order of names. Compared by
    identity: what is kept for one is found without a look at names."""

    __slots__ = ("fed", "fetches", "targets")

    def __init__(
        self,
        fetches: tuple[TensorRef, ...],
        targets: tuple[str, ...],
        fed: Mapping[TensorRef, TensorType],
    ) -> None:
        self.fetches, self.targets, self.fed = fetches, targets, fed

    def says(self, other: Signature) -> bool:
        """Whether both are of the same runs."""
        mine, theirs = (self.fetches, self.targets), (other.fetches, other.targets)
        return mine == theirs and self.fed == other.fed


class _Fed(NamedTuple):
    """A tensor that is fed, and its type; sizes: of its shape, of which some may be unknown."""

    ref: TensorRef
    kind: TensorType
    dtype: np.dtype
    sizes: tuple[int | None, ...] | None


class Question:
    """Fetches, targets and what is fed, as somebody asks for them, once each is known to be there.

    kinds: the types that are declared for what is fed, in the order of the feeds; None: nobody
    knows, and then the question is not `is_clear`, for what is fed decides.
    """

    def __init__(
        self,
        fetches: Iterable[TensorRef],
        targets: Iterable[str],
        kinds: Mapping[TensorRef, TensorType | None],
    ) -> None:
        self.fetches, self.targets = tuple(fetches), tuple(targets)
        self.is_clear = None not in kinds.values()
        self._fed = [
            _Fed(ref, kind, kind.dtype.numpy, kind.shape.dims)
            for ref, kind in kinds.items()
            if kind is not None
        ]
        self._refs = sorted(kinds, key=lambda ref: (ref.op, ref.index))
        order = [[*kinds].index(ref) for ref in self._refs]
        self._order = None if order == sorted(order) else order
        self._signatures: dict[_Shapes, Signature] = {}

    def arrays(self, values: Iterable[Any]) -> list[np.ndarray]:
        """What is fed, in the order of names; not copies of what are arrays of the right type.
        Raises GradstepError as feed_arrays does."""
        found = []
        for (ref, kind, dtype, sizes), value in zip(self._fed, values, strict=True):
            right = type(value) is np.ndarray and value.dtype == dtype and not dtype.hasobject
            if right and (value.shape == sizes or kind.shape.accepts(value.shape)):
                found.append(value)
            else:
                found.append(convert_feed(ref, kind, value))
        return self.in_order(found)

    def in_order(self, arrays: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Arrays in the order of the feeds, put into that of names."""
        found = [*arrays]
        return found if self._order is None else [found[i] for i in self._order]

    def types(self, arrays: Iterable[np.ndarray]) -> dict[TensorRef, TensorType]:
        """Of what is fed, in the order of names."""
        return infer_fed_types(dict(zip(self._refs, arrays, strict=True)))

    def signature(self, arrays: Iterable[np.ndarray]) -> Signature | None:
        """The signature of runs which are fed arrays like these, if there was one."""
        return self._signatures.get(tuple([array.shape for array in arrays]))

    def remember(self, arrays: Iterable[np.ndarray], signature: Signature) -> None:
        """Give `signature` for arrays like these from now on."""
        if len(self._signatures) == _KEPT_SHAPES:
            self._signatures.clear()
        self._signatures[tuple([array.shape for array in arrays])] = signature
