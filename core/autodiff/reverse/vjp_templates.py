"""VJPs that are alike: what was built for one operation is copied for the next one like it.

What a rule of the table does follows from what `VjpTemplates.key` lists. A turn that reaches for
any other tensor, or that deals in rows, is not copied.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Edge, Operation, Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.type_memo import attrs_key

Key = tuple[Hashable, ...]
Arrived = Sequence[Sequence[Contribution]]
Place = tuple[int, int]  # number of an operation of the turn, and which of its outputs
_OUTSIDE = -1  # in the number's place: which of the tensors that the rule got


@dataclass(frozen=True, slots=True)
class _Made:
    """An operation of a turn. name: what follows the turn's scope."""

    name: str
    type: str
    inputs: tuple[Place, ...]
    waits: tuple[int, ...]
    attrs: Mapping[str, Any]
    outputs: tuple[TensorType, ...]
    constant: np.ndarray | None


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A turn of any operation like the one that it was learned from."""

    made: tuple[_Made, ...]
    gradients: tuple[tuple[int, Place], ...]
    edges: tuple[tuple[int, Place], ...]
    blocked: tuple[tuple[int, str], ...]
    rule: str
    custom: str


class VjpTemplates:
    """Those of one differentiation."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._types, self._constants = builder.known.types.of, builder.known.constants
        self._known: dict[Key, _Pattern | None] = {}

    def key(
        self, op: Operation, arrived: Arrived, refs: Sequence[TensorRef], asked: Key
    ) -> Key | None:
        """All that the turn follows from: attributes, the types and known values of the tensors
        `refs` that the rule gets, which of them are the same, and who made what arrives. asked:
        what else there is to know of `op`. None: it cannot be said."""
        attrs = attrs_key(op.attrs)
        if attrs is None or any(part.rows for parts in arrived for part in parts):
            return None
        numbers: dict[str, int] = {}  # of operations, as they are first met
        parts: list[Hashable] = [op.type, attrs, asked, len(op.inputs), *map(len, arrived)]
        for ref in refs:
            name = ref.op
            number = numbers.setdefault(name, len(numbers))
            parts += (number, ref.index, id(self._types[name][ref.index]))
            if name in self._constants:
                value = self._constants[name]
                parts += (value.dtype, value.shape, value.tobytes())
        parts += [self._builder.operation(ref.op).type for ref in refs[len(op.inputs) :]]
        return tuple(parts)

    def copied(self, key: Key | None, op: Operation, refs: Sequence[TensorRef]) -> VjpResult | None:
        """The turn of `op`, if one like it is known."""
        pattern = None if key is None else self._known.get(key)
        if pattern is None:
            return None
        return _Copy(self._builder, op, refs).turn(pattern)

    def learn(self, key: Key, turn: VjpResult, refs: Sequence[TensorRef], scope: str) -> None:
        """Keep what `turn` did, if it can be copied."""
        if key in self._known:
            return
        made = self._builder.latest(turn.made)[::-1]
        places = {ref: (_OUTSIDE, i) for i, ref in reversed([*enumerate(refs)])}
        for number, other in enumerate(made):
            for index in range(len(self._types[other.name])):
                places[TensorRef(other.name, index)] = number, index
        try:
            self._known[key] = self._pattern(turn, made, places, scope)
        except (KeyError, ValueError):  # it knows other tensors, or has names of its own
            self._known[key] = None

    def _pattern(
        self, turn: VjpResult, made: list[Operation], places: dict[TensorRef, Place], scope: str
    ) -> _Pattern:
        if turn.slices or any(sent is not None and sent.rows for sent in turn.sent):
            raise ValueError("rows")
        numbers = {op.name: number for number, op in enumerate(made)}
        return _Pattern(
            tuple(
                _Made(
                    _after(scope, op.name),
                    op.type,
                    tuple(places[ref] for ref in op.inputs if ref is not None),
                    tuple(numbers[name] for name in op.control_inputs),
                    op.attrs,
                    self._types[op.name],  # type: ignore[arg-type]
                    self._constants.get(op.name),
                )
                for op in made
            ),
            tuple((ref.index, places[grad]) for ref, grad in turn.gradients.items()),
            tuple((edge.index, places[grad]) for edge, grad in turn.edges.items()),
            tuple((edge.index, why) for edge, why in turn.blocked.items()),
            turn.rule,
            turn.custom,
        )


class _Copy:
    """A turn of `op` in the making. outside: the tensors that it knows at first."""

    def __init__(self, builder: GraphBuilder, op: Operation, outside: Sequence[TensorRef]) -> None:
        self._builder, self._op, self._outside = builder, op, outside
        self._names: list[str] = []
        self._firsts: list[TensorRef] = []  # output 0 of what is made

    def turn(self, pattern: _Pattern) -> VjpResult:
        scope, name = self._builder.unique(f"{self._op.name}_grad"), self._op.name
        for made in pattern.made:
            self._make(made, f"{scope}/{made.name}")
        sent: list[Contribution | None] = [None] * len(self._op.inputs)
        edges: dict[Edge, TensorRef] = {}
        for index, place in pattern.edges:
            grad = edges[Edge(name, index)] = self._at(place)
            sent[index] = Contribution(grad)
        return VjpResult(
            {TensorRef(name, index): self._at(place) for index, place in pattern.gradients},
            {},
            edges,
            {Edge(name, index): why for index, why in pattern.blocked},
            pattern.custom,
            pattern.rule,
            len(pattern.made),
            tuple(sent),
        )

    def _make(self, made: _Made, name: str) -> None:
        inputs = tuple([self._at(place) for place in made.inputs])
        waits = tuple([self._names[number] for number in made.waits])
        origin = self._op.name
        op = Operation(name, made.type, inputs, waits, made.attrs, "", origin, Phase.BACKWARD)
        self._builder.add_typed(op, made.outputs, made.constant)
        self._names.append(name)
        self._firsts.append(TensorRef(name))

    def _at(self, place: Place) -> TensorRef:
        number, index = place
        if number == _OUTSIDE:
            return self._outside[index]
        return self._firsts[number] if index == 0 else TensorRef(self._names[number], index)


def tensors_given(op: Operation, arrived: Arrived) -> list[TensorRef]:
    """Tensors that a rule gets: `op`'s inputs, its outputs, and what arrives."""
    refs = [ref for ref in op.inputs if ref is not None]
    refs += [TensorRef(op.name, index) for index in range(len(arrived))]
    refs += [part.dense for parts in arrived for part in parts]
    return refs


def _after(scope: str, name: str) -> str:
    """What follows the scope in `name`. Raises ValueError where it lies elsewhere."""
    inside, _, rest = name.partition(f"{scope}/")
    if inside or not rest:
        raise ValueError(name)
    return rest
