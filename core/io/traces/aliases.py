"""What shares memory with what, while operations that change tensors in place are read as others.

    h = conv(x);  r = relu_(h);  y = f(h)

means f(relu(h)): from an operation in place on, its tensor's name stands for what came of it. Other
names of the same memory (views of it) would have changed, too; who still uses them is found out.
"""

from __future__ import annotations

from collections.abc import Iterable

# Operations whose result is, or may be, the memory of their first tensor.
VIEWS = frozenset(
    "alias as_strided chunk contiguous detach diagonal dropout expand expand_as feature_dropout "
    "flatten mT movedim moveaxis narrow numpy_T permute ravel real reshape reshape_as select slice "
    "split split_with_sizes squeeze swapaxes swapdims t to tensor_split transpose type_as unbind "
    "unflatten unfold unsqueeze view view_as view_as_real".split()
)


class Aliases:
    """Of the names of one graph."""

    def __init__(self) -> None:
        self._memory: dict[str, int] = {}  # name -> number of what it lies in
        self._stale: set[str] = set()

    def note(self, operation: str, given: Iterable[str], results: Iterable[str]) -> None:
        """An operation, as "transpose", makes `results` of the tensors `given`."""
        first = next(iter(given), None)
        shared = self._number(first) if first is not None and operation in VIEWS else None
        for name in results:
            self._memory[name] = len(self._memory) if shared is None else shared

    def change(self, name: str, result: str) -> None:
        """`name` is changed in place, and so is `result`, another name of the same."""
        memory = self._number(name)
        self._stale |= {other for other, at in self._memory.items() if at == memory}
        self._stale -= {name, result}
        self._memory[result] = memory

    def is_stale(self, name: str) -> bool:
        """Whether it is a view of what was changed in place since."""
        return name in self._stale

    def _number(self, name: str) -> int:
        return self._memory.setdefault(name, len(self._memory))
