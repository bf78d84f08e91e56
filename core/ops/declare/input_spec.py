"""One declared input of an op type."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.declare.resource_handles import HANDLES


@dataclass(frozen=True, slots=True)
class InputSpec:
    """`variadic` takes any number; `ref` takes a variable's buffer; `host` is read on the host,
    as a shape or an axis is: a backend best hands it over as a NumPy array. `takes`: the element
    types it may have, where they are few; `like`: the input whose element type it has, too;
    `handle`: what it is the handle of, if it is one. Without any the op's type rule tells."""

    name: str
    variadic: bool = False
    ref: bool = False
    host: bool = False
    takes: tuple[DType, ...] = ()
    like: str = ""
    handle: str = ""

    @classmethod
    def of(cls, text: str) -> InputSpec:
        """From `name`, `name*` (variadic), `&name` (ref) or `#name` (host); with `:int32,int64`
        behind it where it takes these alone, with `:queue` where it is the handle of one, with
        `:other` where it is like that input."""
        name, _, typed = text.partition(":")
        takes = tuple(DType(kind) for kind in typed.split(",") if kind in _DTYPES)
        return cls(
            name.strip("&#*"),
            variadic=name.endswith("*"),
            ref=name.startswith("&"),
            host=name.startswith("#"),
            takes=takes,
            like="" if takes or typed in HANDLES else typed,
            handle=typed if typed in HANDLES else "",
        )


_DTYPES = frozenset(kind.value for kind in DType)
