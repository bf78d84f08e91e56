"""A mapping from tensors to what is known of each, kept by operation for quick look-ups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Generic, TypeVar

from gradstep.core.graph.model import TensorRef

T = TypeVar("T")


class ByTensor(Mapping[TensorRef, T], Generic[T]):
    """of: operation -> what is known of each of its outputs; None where nothing is."""

    __slots__ = ("of",)

    def __init__(self, of: MutableMapping[str, tuple[T | None, ...]]) -> None:
        self.of = of

    def __getitem__(self, ref: TensorRef) -> T:
        found = self.of.get(ref.op, ())
        known = found[ref.index] if 0 <= ref.index < len(found) else None
        if known is None:
            raise KeyError(ref)
        return known

    def __iter__(self) -> Iterator[TensorRef]:
        for name, found in self.of.items():
            for index, known in enumerate(found):
                if known is not None:
                    yield TensorRef(name, index)

    def __len__(self) -> int:
        return sum(len(found) - found.count(None) for found in self.of.values())
