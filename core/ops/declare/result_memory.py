"""How results of an op lie in memory beside its inputs: what a layout may make of that."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.ops.declare.ufunc import Kernel


@dataclass(frozen=True, slots=True)
class Memory:
    """Results have memory of their own, of which nothing more is known.

    What a declared kind says otherwise:

    elementwise: each element of a result comes from the elements at its place, and from scalars.
    keeps_bytes: each result is the first input's bytes, in another shape at most.
    slices:      the results are parts of the one input that is not read on the host.
    pieces:      the views of the result that its inputs are put into.
    over:        names of inputs that a kernel may write its result over, separated by spaces.
    """

    elementwise: bool = False
    keeps_bytes: bool = False
    slices: bool = False
    pieces: Kernel | None = None
    over: str | None = None


class InPlace(Memory):
    """The inputs named in `over` may share memory with the place for the result. Of an op that does
    not say it, all may where the whole result is there before any of it is written, and for a
    ufunc; else none."""

    __slots__ = ()

    def __init__(self, over: str) -> None:
        super().__init__(over=over)


class Elementwise(Memory):
    """Each element of a result comes from the elements at its place, and from scalars: it may be
    computed in parts, and over its inputs (`over`: as of InPlace). What is a ufunc is so anyway."""

    __slots__ = ()

    def __init__(self, over: str | None = None) -> None:
        super().__init__(elementwise=True, over=over)


class View(Memory):
    """Each result is the first input's bytes, in another shape at most."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(keeps_bytes=True)


class Slices(Memory):
    """The results are parts of the one input that is not read on the host; the kernel gives views
    of it, whose places the other inputs and its shape decide."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(slices=True)


class Pieces(Memory):
    """The op puts its inputs together. `pieces(result, *inputs, **attrs)` gives the view of the
    result that equals each input (None: none does)."""

    __slots__ = ()

    def __init__(self, pieces: Kernel) -> None:
        super().__init__(pieces=pieces)
