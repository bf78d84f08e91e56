"""The graph: frozen operations, tensor references, and the indexes that follow from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from itertools import compress, count, repeat
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.loop import ACROSS, LOOP, out_of_reach
from gradstep.core.graph.splat_array import element_of, fold_splat, is_splat
from gradstep.core.graph.suggestions import unknown_name
from gradstep.core.graph.topological_order import predecessors, topological

GRADIENT_OP_TYPE = "_gradient_op_type"
FOREIGN_SCOPE = "_foreign_scope"  # see foreign_origin
# Attributes that few operations have, which are found without a look at all: see Graph.marked.
MARKS = frozenset({GRADIENT_OP_TYPE, LOOP, ACROSS, FOREIGN_SCOPE})
# Op types whose forward is a Python function.
PYTHON_OPS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})


class Phase(StrEnum):
    """Which part of a training step an operation belongs to."""

    FORWARD = "forward"
    BACKWARD = "backward"
    UPDATE = "update"


class TensorRef(NamedTuple):
    """Output number `index` of operation `op`; written `op:index`."""

    op: str
    index: int = 0  # type: ignore[assignment]  # not tuple's method

    @classmethod
    def first(cls, op: str) -> TensorRef:
        """Output 0 of `op`, for who makes very many."""
        return tuple.__new__(cls, (op, 0))

    @classmethod
    def parse(cls, text: str) -> TensorRef:
        """`"name:1"` or `"name"` (output 0). Raises GradstepError for anything else."""
        name, colon, index = text.rpartition(":")
        if text and not colon:
            return cls(text)
        if not name or not _is_index(index):
            raise GradstepError(
                f"'{text:.60}' does not name a tensor",
                kind="ValueError",
                hint="write the operation's name, or name:0 for its first output",
            )
        return cls(name, int(index))

    def __str__(self) -> str:
        return f"{self.op}:{self.index}"

    @property
    def short(self) -> str:
        """As users write it: output 0 goes without its number."""
        return self.op if self.index == 0 else str(self)


class Edge(NamedTuple):
    """The wire into input number `index` of operation `op`; a tuple, for very many are looked up.

    sign: makes none equal to a TensorRef.
    """

    op: str
    index: int  # type: ignore[assignment]  # not tuple's method
    sign: Literal["<"] = "<"

    @classmethod
    def many(cls, ops: Iterable[str], indexes: Iterable[int]) -> Iterator[Edge]:
        """One for each operation and input, for who makes very many."""
        return map(partial(tuple.__new__, cls), zip(ops, indexes, repeat("<")))

    @classmethod
    def parse(cls, text: str) -> Edge:
        """`"op<1"`, the second input of `op`. Raises GradstepError for anything else."""
        op, _, index = text.rpartition("<")
        if not op or not _is_index(index):
            raise GradstepError(
                f"'{text:.60}' does not name a wire",
                kind="ValueError",
                hint="write the operation and the number of its input: loss<0",
            )
        return cls(op, int(index))

    def __str__(self) -> str:
        return f"{self.op}{self.sign}{self.index}"

    def __repr__(self) -> str:
        return f"Edge(op={self.op!r}, index={self.index!r})"


class Constant:
    """A frozen tensor value as an attribute; equal when dtype, shape and every bit agree. A large
    one of a single value takes the memory of one element (gradstep.core.graph.splat_array)."""

    __slots__ = ("array",)

    def __init__(self, array: np.typing.ArrayLike) -> None:
        given = np.asarray(array)
        alike = fold_splat(given)
        # Else always a copy: nobody else holds a writable view of it.
        self._keep(np.array(given) if alike is given else alike)

    @classmethod
    def taking(cls, array: np.ndarray) -> Constant:
        """Of `array` itself, which nobody may write to from here on."""
        constant = cls.__new__(cls)
        constant._keep(fold_splat(array))
        return constant

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return self.array is other.array or self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Constant({self.array.dtype}{list(self.array.shape)})"

    def _keep(self, array: np.ndarray) -> None:
        if array.flags.writeable:
            array.setflags(write=False)
        self.array: np.ndarray = array

    def _key(self) -> tuple[object, ...]:
        """Of a splat by its element: whatever holds the same bits is a splat, too."""
        array = self.array
        held = element_of(array) if is_splat(array) else array
        data = repr(held.tolist()) if array.dtype == object else held.tobytes()
        return (array.dtype.str, array.shape, data)


_DIGITS = 6  # of the number of an output or input: no operation has a million


def _is_index(text: str) -> bool:
    return text.isdecimal() and len(text) <= _DIGITS


# bool, int, float, str, bytes, DType, Shape, Constant, or a tuple of these; Unread; Loop.
AttrValue = Any
_CONTROL_INPUTS, _ORIGIN = attrgetter("control_inputs"), attrgetter("origin")
NO_ATTRS: Mapping[str, AttrValue] = MappingProxyType({})
# Attributes of these classes that are equal, and of the same class, are the same in every bit, but
# for 0.0 and -0.0.
_PLAIN = frozenset({DType, Shape, bool, int, float, str, bytes})


def attrs_key(attrs: Mapping[str, AttrValue]) -> tuple[Any, ...] | None:
    """What stands for attributes, equal for those that are the same in every bit; None where
    nothing can."""
    if not attrs:
        return ()
    classes = tuple(map(type, attrs.values()))
    if not _PLAIN.issuperset(classes):
        return None
    if float not in classes:
        return *attrs.items(), classes
    return *attrs.items(), classes, *map(str, attrs.values())


class SharedAttrs:
    """Attributes of many operations: those that are the same become one mapping."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Mapping[str, AttrValue]] = {}

    def one(self, attrs: dict[str, AttrValue]) -> Mapping[str, AttrValue]:
        """`attrs`, to which nobody adds from here on, or what is the same."""
        if not attrs:
            return NO_ATTRS
        key = attrs_key(attrs)
        return attrs if key is None else self._known.setdefault(key, MappingProxyType(attrs))


@dataclass(frozen=True, slots=True)
class Operation:
    """One node.

    name:           unique in its graph, ignoring case; scopes are separated by `/`.
    type:           TensorFlow op type ("AddV2").
    inputs:         data inputs in order; None is an input the user has not wired yet.
    control_inputs: operations that must have run before this one.
    attrs:          typed attributes; TensorFlow's names and meaning.
    device:         wish for a device, as in NodeDef; may be empty.
    origin:         for a derived operation, the forward operation it belongs to; else empty.
    phase:          part of the training step.
    """

    name: str
    type: str
    inputs: tuple[TensorRef | None, ...] = ()
    control_inputs: tuple[str, ...] = ()
    attrs: Mapping[str, AttrValue] = field(default_factory=lambda: NO_ATTRS)
    device: str = ""
    origin: str = ""
    phase: Phase = Phase.FORWARD

    def __post_init__(self) -> None:
        if not isinstance(self.attrs, MappingProxyType):
            object.__setattr__(self, "attrs", MappingProxyType(dict(self.attrs)))

    @property
    def scope(self) -> str:
        """The enclosing name scope, without a trailing slash; empty at the top."""
        return self.name.rpartition("/")[0]

    @property
    def gradient_op_type(self) -> str | None:
        """The gradient that NodeDef's `_gradient_op_type` asks for, if any."""
        asked = self.attrs.get(GRADIENT_OP_TYPE)
        return asked if isinstance(asked, str) else None  # TensorFlow knows no other kind

    def output(self, index: int = 0) -> TensorRef:
        return TensorRef(self.name, index)

    def with_attrs(self, **attrs: AttrValue) -> Operation:
        return replace(self, attrs={**self.attrs, **attrs})


def marked_among(
    operations: Mapping[str, Operation], names: Iterable[str]
) -> Mapping[str, frozenset[str]]:
    """For each of MARKS those of the names whose operations have it."""
    found = [name for name in names if not MARKS.isdisjoint(operations[name].attrs)]
    return {mark: frozenset(n for n in found if mark in operations[n].attrs) for mark in MARKS}


@dataclass(frozen=True, eq=False)
class Graph:
    """Operations by name, in order of creation. Compared by identity; see changes.diff."""

    operations: Mapping[str, Operation] = field(default_factory=dict)

    @classmethod
    def of(cls, operations: Iterable[Operation]) -> Graph:
        return cls({op.name: op for op in operations})

    @classmethod
    def ordered(cls, operations: Mapping[str, Operation]) -> Graph:
        """Of operations that come after all that they need, as whoever made them knows."""
        graph = cls(dict(operations))
        graph.__dict__.update(order=tuple(operations), is_in_order=True)
        return graph

    def __getitem__(self, name: str) -> Operation:
        """The operation `name`. Raises GradstepError, with near misses, when there is none."""
        try:
            return self.operations[name]
        except KeyError:
            raise out_of_reach(self, name) or unknown_name(name, self.operations) from None

    def __contains__(self, name: object) -> bool:
        return name in self.operations

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations.values())

    def __len__(self) -> int:
        return len(self.operations)

    @property
    def consumers(self) -> Mapping[str, tuple[Edge, ...]]:
        """For each operation, in no order, the wires that leave it, in order of the consumers'
        creation."""
        return self.readers[0]

    @cached_property
    def readers(self) -> tuple[dict[str, tuple[Edge, ...]], frozenset[str]]:
        """`consumers`, and the names of operations that wires come from, and that are not there."""
        found: dict[str, list[Edge]] = {name: [] for name in self.operations}
        missing: set[str] = set()
        for op in self:
            for index, ref in enumerate(op.inputs):
                if ref is not None and ref.op in found:
                    found[ref.op].append(Edge(op.name, index))
                elif ref is not None:
                    missing.add(ref.op)
        return {name: tuple(edges) for name, edges in found.items()}, frozenset(missing)

    @cached_property
    def control_outputs(self) -> Mapping[str, tuple[str, ...]]:
        """Name -> the operations that have it as a control input, in no order; of those that are
        one, also of names that are not there."""
        found: dict[str, list[str]] = {}
        for op in compress(self, map(_CONTROL_INPUTS, self)):
            for name in op.control_inputs:
                found.setdefault(name, []).append(op.name)
        return {name: tuple(after) for name, after in found.items()}

    @cached_property
    def by_type(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the operations of each type that there is, in no order."""
        found: dict[str, list[str]] = {}
        for op in self:
            found.setdefault(op.type, []).append(op.name)
        return {type: tuple(names) for type, names in found.items()}

    @cached_property
    def marked(self) -> Mapping[str, frozenset[str]]:
        """For each of MARKS the names of the operations that have it."""
        return marked_among(self.operations, self.operations)

    @cached_property
    def unwired(self) -> frozenset[str]:
        """The names of the operations with an input that has no wire."""
        return frozenset(op.name for op in self if None in op.inputs)

    @cached_property
    def derived(self) -> frozenset[str]:
        """The names of the operations that belong to another one."""
        return frozenset(op.name for op in compress(self, map(_ORIGIN, self)))

    @cached_property
    def lowered(self) -> Mapping[str, None]:
        """By the names of all operations in small letters."""
        return dict.fromkeys(map(str.lower, self.operations))

    @cached_property
    def wishes(self) -> frozenset[str]:
        """The names of the operations that wish for a device."""
        return frozenset(op.name for op in self if op.device)

    def of_types(self, types: Collection[str]) -> list[str]:
        """The names of the operations of these types, in order of creation."""
        found = frozenset[str]().union(*(self.by_type.get(type, ()) for type in types))
        return [*filter(found.__contains__, self.operations)] if found else []

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The places of the operations in the order of their creation; in no order itself."""
        return dict(zip(self.operations, count(), strict=False))

    @cached_property
    def order(self) -> Sequence[str]:
        """Topological order, closest to creation order. Raises GradstepError on a cycle."""
        return topological(self.operations)

    @property
    def names(self) -> Sequence[str]:
        """Of all operations, in order of their creation."""
        return self.order if self.__dict__.get("is_in_order") else tuple(self.operations)

    @cached_property
    def is_in_order(self) -> bool:
        """Whether the operations were created in topological order. Raises GradstepError on a
        cycle."""
        return self.order == tuple(self.operations)

    def source(self, edge: Edge) -> TensorRef | None:
        """The tensor that `edge` carries; None when that input is not wired, or not there."""
        inputs = self[edge.op].inputs
        return inputs[edge.index] if edge.index < len(inputs) else None

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """`names` and all that they need, through data and control inputs."""
        seen: set[str] = set()
        stack, operations = list(names), self.operations
        while stack:
            name = stack.pop()
            if name not in seen:
                seen.add(name)
                op = operations.get(name) or self[name]
                stack += [ref[0] for ref in op.inputs if ref is not None]
                stack += op.control_inputs
        return seen

    def descendants(self, *names: str) -> frozenset[str]:
        """`names` and all that needs one of them, through data and control inputs."""
        by_data, waiting = self.takers(*names), self.control_outputs
        found, stack = {*by_data}, [*(waiting.keys() & by_data)]
        while stack:
            for other in waiting.get(stack.pop(), ()):
                if other not in found:
                    new = self._find_takers([other], found)
                    stack += filter(waiting.__contains__, new)
        return frozenset(found) if len(found) > len(by_data) else by_data

    def takers(self, *names: str) -> frozenset[str]:
        """`names` and all that takes what they give, or what is made of that: through data inputs
        alone. Who asks for the same again, as several do of an unfinished graph, is given it."""
        asked = frozenset(names)
        known: tuple[frozenset[str], frozenset[str]] | None = self.__dict__.get("_takers")
        if known is None or known[0] != asked:
            found = set[str]()
            self._find_takers(asked, found)
            known = self.__dict__["_takers"] = asked, frozenset(found)
        return known[1]

    def _find_takers(self, names: Iterable[str], found: set[str]) -> list[str]:
        """Add to what was found, of which all takers are there; those that were not."""
        new = [*names]
        found.update(new)
        consumers, nobody = self.consumers, ()
        for name in new:  # which grows meanwhile
            for edge in consumers.get(name, nobody):
                if (reader := edge[0]) not in found:
                    found.add(reader)
                    new.append(reader)
        return new


__all__ = [
    "GRADIENT_OP_TYPE",
    "PYTHON_OPS",
    "AttrValue",
    "Constant",
    "DType",
    "Edge",
    "Graph",
    "Operation",
    "Phase",
    "Shape",
    "TensorRef",
    "predecessors",
    "unknown_name",
]
