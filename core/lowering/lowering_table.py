"""One foreign operation, one declaration: its names, what builds it of ours, where it is not equal.

    @lower("linear")
    def linear(site: Site, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor: ...

The function's parameters are the operation's arguments, by the names of its schema. An argument
that the function does not name keeps it from being lowered, unless it is None, False, empty or
ignored: nothing is left out unseen.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.lowering.foreign_graph import ForeignNode, ForeignSubgraph, ForeignTensor
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

Made = Tensor | Sequence[Tensor]
Build = Callable[..., Made]
B = TypeVar("B", bound=Build)
_AS_OURS = {
    "float8_e4m3fn": "float32", "float8_e5m2": "float32", "float8_e4m3fnuz": "float32",
    "float8_e5m2fnuz": "float32", "float8_e8m0fnu": "float32", "float4_e2m1fn": "float32",
    "int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8",
}  # fmt: skip


class UnloweredError(GradstepError):
    """There is no way to build an operation as it is asked for here."""

    def __init__(self, why: str) -> None:
        super().__init__(why, kind="UnloweredError")


def element_type(name: str) -> DType:
    """Ours for a framework's; those of few bits, which there are none of, are of the next that has
    their numbers.
    Raises UnloweredError for one that there is nothing like."""
    try:
        return DType(_AS_OURS.get(name, name))
    except ValueError:
        raise UnloweredError(f"element type {name}") from None


@dataclass(frozen=True)
class Site:
    """One node that is being lowered.

    node:  the foreign operation. builder: where ours are made.
    known: what tensors were when the framework ran.
    types: what the framework calls their element types, where that is told.
    inner: lowers the function of a branch or a loop where it is called, of these arguments; of a
           loop, with the number of the iteration, or None.
    outline: the same, of which nothing stays but the element types of what it gives.
    counts: whether what is in such a function has to know that number.
    iterations: these numbers, of the loops that it is in, the outermost first.
    is_widened: whether its short floats have been cast to float32, to be rounded behind it.
    """

    node: ForeignNode
    builder: GraphBuilder
    known: Mapping[TensorRef, np.ndarray]
    types: Mapping[TensorRef, str]
    inner: Callable[[ForeignSubgraph, Sequence[Tensor], Tensor | None], list[Any]]
    outline: Callable[[ForeignSubgraph, Sequence[Tensor]], list[DType]]
    counts: Callable[[ForeignSubgraph], bool] = lambda graph: False
    iterations: tuple[Tensor, ...] = ()
    is_widened: bool = False

    @property
    def variant(self) -> str:
        """The last part of the operation's name."""
        return self.node.op.rpartition(".")[2]

    @property
    def scope(self) -> str:
        """The scope that we are in, which is the operation's already: as a name, no other in it."""
        return f"{self.builder.scope_name}/"

    def output(self, index: int = 0) -> ForeignTensor:
        return self.node.outputs[index]

    def dtype(self, index: int = 0) -> DType:
        """What the framework gives, as ours; while short floats are widened, float32 for them."""
        told = element_type(self.output(index).dtype)
        return DType.FLOAT32 if self.is_widened and told.is_short else told

    def shape(self, index: int = 0) -> tuple[int | None, ...]:
        """None for a size that may be any."""
        return tuple(size if isinstance(size, int) else None for size in self.output(index).shape)

    def sizes(self, index: int = 0) -> tuple[int, ...]:
        """Raises UnloweredError where one may be any."""
        return fixed(self.shape(index))

    def recorded(self, index: int = 0) -> np.ndarray:
        """What the framework computed. Raises UnloweredError where that is not known."""
        value = self.output(index).value
        if value is None:
            raise UnloweredError("what it drew was not recorded: write the trace with values=True")
        return value

    def value_of(self, tensor: Any) -> np.ndarray | None:
        """What an argument was when the framework ran, if that is known."""
        return self.known.get(tensor.ref) if isinstance(tensor, Tensor) else None

    def is_narrowed(self, tensor: Tensor) -> bool:
        """Whether it is of a type of few bits there, which is another one here."""
        return self.types.get(tensor.ref, "") in _AS_OURS

    def tensor(self, value: Any, kind: str) -> Tensor:
        """A tensor, or a number as one of a framework's element type. Raises UnloweredError for
        anything else."""
        if isinstance(value, Tensor):
            return value
        if not isinstance(value, bool | int | float):
            raise UnloweredError(f"its function is given {value!r:.40}, which is no tensor")
        return self.builder.constant(value, element_type(kind))

    def constant(self, array: np.ndarray) -> Tensor:
        return self.builder.constant(array)


def fixed(shape: Sequence[int | None]) -> tuple[int, ...]:
    """A shape all of whose sizes are known. Raises UnloweredError for another."""
    found = tuple(size for size in shape if size is not None)
    if len(found) != len(shape):
        raise UnloweredError("sizes that may be any")
    return found


@dataclass(frozen=True)
class Lowering:
    """How one foreign operation is built; differs: where and why not just as the framework has it,
    in words. draws: whether it draws at random, and what was drawn is drawn again. widens: whether
    its operands are cast to float32 where they are shorter, and what it gives is rounded."""

    build: Build
    takes: frozenset[str]
    ignores: frozenset[str]
    differs: str = ""
    draws: bool = False
    widens: bool = False

    def __call__(self, site: Site, args: Mapping[str, Any]) -> Sequence[Tensor]:
        """The tensors that it gives. Raises UnloweredError."""
        for name, value in args.items():
            if name not in self.takes | self.ignores and not _is_nothing(value):
                raise UnloweredError(f"its argument {name} = {value!r:.40}")
        made = self.build(site, **{n: v for n, v in args.items() if n in self.takes})
        return [made] if isinstance(made, Tensor) else made


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, list) and not value)


class LoweringTable:
    """All lowerings of one framework, by name: "linear", or "max.dim" for one variant alone.

    inner: of an operation's inner name, group 1 is what users call it. widens: what holds for an
    operation that does not say it."""

    def __init__(self, inner: str = "(.+)", widens: bool = False) -> None:
        self._widens = widens
        self._by_name: dict[str, Lowering] = {}
        self._inner = re.compile(inner)

    def written(self, name: str) -> str:
        """What users call an operation: "batch_norm" for "_native_batch_norm_legit_functional"."""
        found = self._inner.fullmatch(name)
        return name if found is None else found[1]

    def lower(
        self,
        *names: str,
        ignores: Collection[str] = (),
        differs: str = "",
        draws: bool = False,
        widens: bool | None = None,
    ) -> Callable[[B], B]:
        """Declare what builds these. ignores: arguments without a meaning for numbers."""
        wide = self._widens if widens is None else widens

        def declare(build: B) -> B:
            takes = frozenset([*inspect.signature(build).parameters][1:])
            for name in names:
                if name in self._by_name:
                    raise ValueError(f"{name} is declared twice")
                self._by_name[name] = Lowering(
                    build, takes, frozenset(ignores), differs, draws, wide
                )
            return build

        return declare

    def find(self, op: str) -> Lowering | None:
        """Of "aten.max.dim", what is declared for "max.dim", or else for "max"."""
        name = op.partition(".")[2]
        return self._by_name.get(name) or self._by_name.get(name.rpartition(".")[0])

    def __iter__(self) -> Iterator[tuple[str, Lowering]]:
        return iter(self._by_name.items())
