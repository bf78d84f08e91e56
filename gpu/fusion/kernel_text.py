"""The text of a kernel, written while the function that it is to compute is called once.

The function is given this in place of NumPy, and elements in place of arrays. Element types are
those that NumPy itself says; each result is rounded to its own, as in an array of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradstep.gpu.fusion.c_expressions import (
    EXPRESSIONS,
    TYPES,
    converted,
    expression,
    literal,
)
from gradstep.gpu.fusion.element import Element

_DOUBLE = np.dtype(np.float64)
_OTHER_NAMES = {"abs": "absolute", "divide": "true_divide"}


class KernelText:
    """lines: what there is to do for an element, in order; tables: what stands before that."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tables: list[str] = []
        self._names = 0

    def __getattr__(self, name: str) -> Any:
        function = _OTHER_NAMES.get(name, name)
        if function in EXPRESSIONS:
            return lambda *operands: self.call(function, *operands)
        if name in TYPES:
            return getattr(np, name)
        raise AttributeError(f"a function that is to be one kernel may not use xp.{name}")

    def call(self, function: str, *operands: Any) -> Any:
        """One of NumPy's functions, named as there."""
        if not any(isinstance(x, Element) for x in operands):
            return getattr(np, function)(*operands)
        *takes, gives = getattr(np, function).resolve_dtypes((*map(_kind, operands), None))
        texts = [self._operand(x, kind) for x, kind in zip(operands, takes, strict=True)]
        return self._let(
            gives, expression(function, takes[0]).format(*texts, one=literal(1, takes[0]))
        )

    def cast(self, x: Element, dtype: np.dtype) -> Element:
        return x if x.dtype == dtype else self._let(dtype, converted(x.text, x.dtype, dtype))

    def where(self, condition: Any, x: Any, y: Any) -> Element:
        dtype = np.result_type(*map(_example, (x, y)))
        chosen = [self._operand(value, dtype) for value in (x, y)]
        test = self._operand(condition, np.dtype(bool))
        return self._let(dtype, f"{test} ? {chosen[0]} : {chosen[1]}")

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        return self.call("minimum", self.call("maximum", x, low), high)

    def full_like(self, x: Element, value: Any) -> Element:
        return self._let(x.dtype, literal(value, x.dtype))

    def zeros_like(self, x: Element) -> Element:
        return self.full_like(x, 0)

    def ones_like(self, x: Element) -> Element:
        return self.full_like(x, 1)

    def asarray(self, x: Element, dtype: Any) -> Element:
        return self.cast(x, np.dtype(dtype))

    def loop(
        self, body: Callable[..., Any], rows: Iterable[tuple[float, ...]], *state: Any
    ) -> tuple[Element, ...]:
        """See gradstep.core.ops.numerics.fused_functions.repeat."""
        given = [x if isinstance(x, Element) else self._let(_DOUBLE, repr(float(x))) for x in state]
        count, columns = self._columns([*rows])
        kept = [Element(self, x.dtype, self._name("s")) for x in given]
        for x, to in zip(given, kept, strict=True):
            self.lines.append(f"{TYPES[x.dtype.name]} {to.text} = {x.text};")
        at = self._name("k")
        self.lines.append(f"for (int {at} = 0; {at} < {count}; ++{at}) {{")
        numbers = [self._let(_DOUBLE, column.format(at=at)) for column in columns]
        made = body(*kept, *numbers)
        ready = [
            self._let(to.dtype, self._operand(x, to.dtype))
            for x, to in zip(made, kept, strict=True)
        ]
        self.lines += [f"{to.text} = {x.text};" for x, to in zip(ready, kept, strict=True)]
        self.lines.append("}")
        return tuple(kept)

    def give(self, results: Sequence[tuple[Any, np.dtype]]) -> None:
        """Have the kernel give these as r0, r1, …, once all are known: a place that it writes to
        may be one that it reads."""
        ready = [self._let(dtype, self._operand(x, dtype)) for x, dtype in results]
        self.lines += [f"r{n} = {x.text};" for n, x in enumerate(ready)]

    def _columns(self, rows: Sequence[tuple[float, ...]]) -> tuple[int, list[str]]:
        """How many rows there are, and what the number in each column of row {at} is."""
        return len(rows), [self._column(column) for column in zip(*rows, strict=True)]

    def _column(self, numbers: Sequence[float]) -> str:
        first, step = numbers[0], numbers[1] - numbers[0] if len(numbers) > 1 else 0
        whole = all(float(x).is_integer() for x in numbers)
        if whole and all(x == first + n * step for n, x in enumerate(numbers)):
            return f"{float(first)!r} + {float(step)!r} * {{at}}"
        name = f"table{len(self.tables)}"
        listed = ", ".join(repr(float(x)) for x in numbers)
        self.tables.append(f"__device__ const double {name}[] = {{{listed}}};")
        return f"{name}[{{at}}]"

    def _operand(self, x: Any, dtype: np.dtype) -> str:
        return converted(x.text, x.dtype, dtype) if isinstance(x, Element) else literal(x, dtype)

    def _let(self, dtype: np.dtype, expression: str) -> Element:
        kind, name = TYPES[dtype.name], self._name("v")
        self.lines.append(f"const {kind} {name} = ({kind})({expression});")
        return Element(self, dtype, name)

    def _name(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"


def _kind(x: Any) -> Any:
    """As NumPy is asked for the types of a call's results: a Python number has none of its own."""
    return x.dtype if isinstance(x, Element | np.generic) else type(x)


def _example(x: Any) -> Any:
    return x.dtype if isinstance(x, Element) else x
