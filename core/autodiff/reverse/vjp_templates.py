"""VJPs that are alike: what was built for one operation is copied for the next one like it.

What a rule of the table does follows from what `VjpTemplates.make_key` lists. A VJP that reaches
for any other tensor, or that deals in rows, is not copied.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.backward_pass import BackwardPass, Contributions
from gradstep.core.autodiff.reverse.gradient_end import GradientEnd
from gradstep.core.autodiff.reverse.vjp_result import NOTHING, VjpResult
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Edge, Operation, Phase, TensorRef, attrs_key
from gradstep.core.ops.build.builder import GraphBuilder

Key = tuple[Hashable, ...]
Place = tuple[int, int]  # number of an operation of the VJP, and which of its outputs
_OUTSIDE = -1  # in the number's place: which of the tensors that the rule got


@dataclass(frozen=True, slots=True)
class _TemplateOp:
    """An operation of a VJP. name: what follows the VJP's scope."""

    name: str
    type: str
    inputs: tuple[Place, ...]
    waits: tuple[int, ...]
    attrs: Mapping[str, Any]
    outputs: tuple[TensorType, ...]
    constant: np.ndarray | None


@dataclass(frozen=True, slots=True)
class _Template:
    """The VJP of any operation like the one that it was learned from. held, sent: see VjpResult.
    scopes: those within the VJP's, "" for itself, and what the operations in each are called."""

    made: tuple[_TemplateOp, ...]
    scopes: tuple[tuple[str, frozenset[str]], ...]
    held: tuple[Place | None, ...]
    sent: tuple[Place | None, ...]
    blocked: tuple[tuple[int, GradientEnd], ...]
    rule: str
    custom: str


class TemplatedPass(BackwardPass):
    """A backward pass that calls a rule once for all operations alike, and counts what is made."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._templates = VjpTemplates(self.builder)
        self._stopped = {ref.op for ref in self.request.stops}
        self._stopped |= {edge.op for edge in self.request.stopped_edges}

    def build_vjp(
        self, op: Operation, rule: str, contributions: Contributions, needs_grad: Sequence[bool]
    ) -> VjpResult:
        refs = _tensors_seen(op, contributions)
        key = self._make_key(op, rule, contributions, refs, needs_grad)
        copy = self._templates.copy(key, op, refs)
        if copy is not None:
            return copy
        before = self.builder.size
        vjp = super().build_vjp(op, rule, contributions, needs_grad)
        vjp.made = self.builder.size - before
        if key is not None:
            self._templates.learn(key, vjp, refs)
        return vjp

    def _make_key(
        self,
        op: Operation,
        rule: str,
        contributions: Contributions,
        refs: Sequence[TensorRef],
        needs_grad: Sequence[bool],
    ) -> Key | None:
        """Under which the VJP can be copied. None where it cannot: a user's function may depend on
        anything, and a stop is this operation's alone."""
        if rule in self.functions or op.name in self._stopped:
            return None
        asked = self.slice.asked.get(op.name)
        known = () if asked is None else (*sorted(asked), self.slice.is_live(op))
        return self._templates.make_key(op, contributions, refs, (rule, *needs_grad, *known))


class VjpTemplates:
    """The templates that one backward pass has made so far."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._types, self._constants = builder.known.types.of, builder.known.constants
        self._known: dict[Key, _Template | None] = {}

    def make_key(
        self, op: Operation, contributions: Contributions, refs: Sequence[TensorRef], asked: Key
    ) -> Key | None:
        """All that the VJP follows from: attributes, the types and known values of the tensors
        `refs` that the rule gets, which of them are the same, and who made what comes back. asked:
        what else there is to know of `op`. None: it cannot be said."""
        attrs = attrs_key(op.attrs)
        if attrs is None or any(part.rows for parts in contributions for part in parts):
            return None
        numbers: dict[str, int] = {}  # of operations, as they are first met
        parts: list[Hashable] = [op.type, attrs, asked, len(op.inputs)]
        parts += map(len, contributions)
        for ref in refs:
            name = ref.op
            number = numbers.setdefault(name, len(numbers))
            parts += (number, ref.index, id(self._types[name][ref.index]))
            if name in self._constants:
                value = self._constants[name]
                parts += (value.dtype, value.shape, value.tobytes())
        parts += [self._builder.operation(ref.op).type for ref in refs[len(op.inputs) :]]
        return tuple(parts)

    def copy(self, key: Key | None, op: Operation, refs: Sequence[TensorRef]) -> VjpResult | None:
        """The VJP of `op`, made like one that is known; None if there is none."""
        template = None if key is None else self._known.get(key)
        if template is None:
            return None
        return _Copy(self._builder, op, refs).make(template)

    def learn(self, key: Key, vjp: VjpResult, refs: Sequence[TensorRef]) -> None:
        """Keep `vjp`, the latest, as a template, if it can be copied."""
        if key in self._known:
            return
        made = self._builder.latest(vjp.made)
        places = {ref: (_OUTSIDE, i) for i, ref in reversed([*enumerate(refs)])}
        for number, other in enumerate(made):
            for index in range(len(self._types[other.name])):
                places[TensorRef(other.name, index)] = number, index
        try:
            self._known[key] = self._make_template(vjp, made, places)
        except (KeyError, ValueError):  # it knows other tensors, or has names of its own
            self._known[key] = None

    def _make_template(
        self, vjp: VjpResult, made: list[Operation], places: dict[TensorRef, Place]
    ) -> _Template:
        loops = any(loop_of(op) is not None for op in made)
        if loops or vjp.slices or vjp.rows or vjp.zeros:
            raise ValueError("rows, or loops")
        numbers = {op.name: number for number, op in enumerate(made)}
        names = [_strip_scope(vjp.scope, op.name) for op in made]
        return _Template(
            tuple(
                _TemplateOp(
                    name,
                    op.type,
                    tuple(places[ref] for ref in op.inputs if ref is not None),
                    tuple(numbers[name] for name in op.control_inputs),
                    op.attrs,
                    self._types[op.name],  # type: ignore[arg-type]
                    self._constants.get(op.name),
                )
                for name, op in zip(names, made, strict=True)
            ),
            _by_scope(names),
            tuple(ref and places[ref] for ref in vjp.held),
            tuple(ref and places[ref] for ref in vjp.sent),
            tuple((edge.index, why) for edge, why in vjp.blocked.items()),
            vjp.rule,
            vjp.custom,
        )


class _Copy:
    """A VJP of `op` in the making. outside: the tensors that it knows at first."""

    def __init__(self, builder: GraphBuilder, op: Operation, outside: Sequence[TensorRef]) -> None:
        self._builder, self._op, self._outside = builder, op, outside
        self._names: list[str] = []
        self._firsts: list[TensorRef] = []  # output 0 of what is made

    def make(self, template: _Template) -> VjpResult:
        scope, name = self._builder.unique(f"{self._op.name}_grad"), self._op.name
        for inner, names in template.scopes:
            self._builder.names.fill(f"{scope}/{inner}" if inner else scope, names)
        for made in template.made:
            self._add(made, f"{scope}/{made.name}")
        return VjpResult(
            name,
            tuple([place and self._at(place) for place in template.held]),
            tuple([place and self._at(place) for place in template.sent]),
            NOTHING,
            NOTHING,
            NOTHING,
            {Edge(name, i): why for i, why in template.blocked} if template.blocked else NOTHING,
            template.custom,
            template.rule,
            scope,
            len(template.made),
        )

    def _add(self, made: _TemplateOp, name: str) -> None:
        inputs = tuple([self._at(place) for place in made.inputs])
        waits = tuple([self._names[number] for number in made.waits])
        origin = self._op.name
        op = Operation(name, made.type, inputs, waits, made.attrs, "", origin, Phase.BACKWARD)
        self._builder.add_typed(op, made.outputs, made.constant)
        self._names.append(name)
        self._firsts.append(TensorRef.first(name))

    def _at(self, place: Place) -> TensorRef:
        number, index = place
        if number == _OUTSIDE:
            return self._outside[index]
        return self._firsts[number] if index == 0 else TensorRef(self._names[number], index)


def _tensors_seen(op: Operation, contributions: Contributions) -> list[TensorRef]:
    """Tensors that a rule gets: `op`'s inputs, its outputs, and what comes back to them."""
    refs = [ref for ref in op.inputs if ref is not None]
    refs += [TensorRef(op.name, index) for index in range(len(contributions))]
    refs += [part.dense for parts in contributions for part in parts]
    return refs


def _by_scope(names: Iterable[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    """The scopes of operations, and how they are called there, in small letters."""
    found: dict[str, set[str]] = {}
    for name in names:
        scope, _, rest = name.lower().rpartition("/")
        found.setdefault(scope, set()).add(rest)
    return tuple((scope, frozenset(rest)) for scope, rest in found.items())


def _strip_scope(scope: str, name: str) -> str:
    """What follows the scope in `name`. Raises ValueError where it lies elsewhere."""
    inside, _, rest = name.partition(f"{scope}/")
    if inside or not rest:
        raise ValueError(name)
    return rest
