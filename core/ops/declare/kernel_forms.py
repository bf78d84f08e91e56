"""A kernel in all its forms: plain, into a place that it is given, as a list of calls."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import Any

from gradstep.core.ops.declare.ufunc import (
    Kernel,
    from_calls,
    keywords_of,
    ufunc_kernel,
    ufunc_out_kernel,
)


@dataclass(frozen=True, slots=True)
class Kernels:
    """What an op declares as its kernel if that can write into a place that it is given.

    plain:    `kernel(xp, *inputs, **wanted)`; the others give the same bits. None: it does not run.
    out:      `plain` with one more keyword: `out`, an array (or tuple of them) to write into.
    calls:    the same for NumPy as a list of bound calls: yields tuples of a function and its
              arguments, and Parts of such (core/ops/declare/parted_calls.py), which several threads
              take; `room(shape, dtype)` is memory between them, which other steps write to as well.
              A plan lists them once, and makes them in every run: what decides which calls there
              are has to be the same in all (attributes, shapes, types, inputs read on the host).
              Arrays of an elementwise op that writes no variable may have gaps between rows.
    ufunc:    the NumPy function that is all of it: see `ufunc`.
    takes_bfloat16: whether `plain` takes and gives bfloat16 as it is, as what moves bits does;
              others are given float32, and rounded (core/engine/calls/bfloat16_kernels.py).
    asks:     what `plain` asks of elements that lie on a device, which the host then waits for: in
              words, "" for nothing. (Inputs that it reads on the host are declared as such.)
    only_numpy: whether there is no `out` but by `calls`, whose functions are NumPy's own.
    fused:    whether `plain` takes `out` where the namespace makes one kernel of it
              (core/ops/numerics/fused_functions.py).
    keywords: names of the keyword-only parameters of `plain`.
    """

    plain: Kernel | None = None
    out: Kernel | None = None
    calls: Kernel | None = None
    ufunc: str | None = None
    takes_bfloat16: bool = False
    asks: str = ""
    keywords: tuple[str, ...] = field(init=False)
    only_numpy: bool = field(init=False)
    fused: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keywords", _keywords(self.plain))
        object.__setattr__(self, "fused", getattr(self.plain, "is_fused", False))
        object.__setattr__(self, "only_numpy", self.out is None and self.calls is not None)
        if self.only_numpy:
            assert self.calls is not None
            object.__setattr__(self, "out", from_calls(self.calls))

    def with_plain(self, plain: Kernel | None) -> Kernels:
        """The same with another plain form. (A copy does not know whose its `out` is.)"""
        return replace(self, plain=plain, out=None if self.only_numpy else self.out)


def ufunc(name: str) -> Kernels:
    """The kernel that is the NumPy function of this name. The op is elementwise, and its
    arithmetic what is known of the function."""
    return Kernels(ufunc_kernel(name), out=ufunc_out_kernel(name), ufunc=name)


def kernels_of(calls: Kernel, empty: Kernel) -> Kernels:
    """Kernels that are these calls with any array namespace, plain as well: then `empty`, which has
    the inputs and the keywords of `calls`, makes the places that they write into."""
    into = from_calls(calls)

    def plain(xp: Any, *inputs: Any, **wanted: Any) -> Any:
        return into(xp, *inputs, out=empty(xp, *inputs, **wanted), **wanted)

    return Kernels(keywords_of(calls, plain), out=into, calls=calls)


def _keywords(kernel: Kernel | None) -> tuple[str, ...]:
    if kernel is None:
        return ()
    parameters = inspect.signature(kernel).parameters.values()
    return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
