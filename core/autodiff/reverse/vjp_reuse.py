"""VJPs taken over from the differentiation before an edit, where nothing that they saw changed.

A rule of the table sees the operation, the types and known values of its inputs and outputs, and
the contributions that come back; so its VJP is taken again, with the very same operations, where
none of these has changed. A user's function may see anything: it is always called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.autodiff.reverse.vjp_templates import TemplatedPass
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import Inference, infer_declared

Seeds = Mapping[str, Sequence[tuple[int, Contribution]]]


@dataclass(frozen=True, eq=False)
class PassRecord:
    """What a backward pass did, for the next one.

    slice:     the operations that it visited.
    functions: names of the user's functions.
    root:      the scope of all that it made.
    seeds:     operation -> what its outputs started with.
    vjps:      in their order.
    first:     number of operations of the derived graph before those of the first VJP.
    """

    slice: BackwardSlice
    request: GradientRequest
    functions: frozenset[str]
    root: str
    seeds: Seeds
    vjps: Mapping[str, VjpResult]
    first: int

    @classmethod
    def start(cls, backward: TemplatedPass) -> PassRecord:
        """Of a pass that has its seeds; it fills as the pass runs."""
        names, size = frozenset(backward.functions), backward.builder.size
        given = backward.slice, backward.request, names, backward.root
        return cls(*given, backward.seeds, backward.vjps, size)

    def is_reusable(self, graph: Graph) -> bool:
        """Whether the names that a VJP gave are its own affair. graph: the derived one."""
        return not self.slice.has_gradient_scopes and not any(self._strayed(graph))

    def starts(self) -> dict[str, int]:
        """For each VJP the number of operations of the derived graph before its own."""
        sizes = (vjp.made for vjp in self.vjps.values())
        return dict(zip(self.vjps, accumulate(sizes, initial=self.first), strict=False))

    def _strayed(self, graph: Graph) -> Iterator[str]:
        """Operations that a user's function made elsewhere than in its VJP's scope."""
        called = {name: vjp for name, vjp in self.vjps.items() if vjp.rule in self.functions}
        if not called:
            return
        names, starts = list(graph.operations), self.starts()
        for name, vjp in called.items():
            made = names[starts[name] : starts[name] + vjp.made]
            yield from (other for other in made if not other.startswith(f"{vjp.scope}/"))


def run_again(backward: TemplatedPass, before: PassRecord, graph: Graph) -> None:
    """What `backward.run()` does, with VJPs of `before`, which led to `graph`, where they would be
    the same."""
    now = PassRecord.start(backward)
    if (now.root, now.request.gate) != (before.root, before.request.gate):
        backward.run()
        return
    reuse, differing = _Reuse(backward.builder, before, graph), _find_differing(before, now)
    for name, op in backward.slice.path.items():
        if name in before.vjps and name not in differing:
            backward.vjps[name] = reuse.take(name)
            continue
        reuse.flush()
        vjp = backward.vjps[name] = backward.visit(op)
        if not reuse.went_alike(name, vjp):
            differing.update(ref.op for ref in op.inputs if ref is not None)
    reuse.flush()


def _find_differing(before: PassRecord, now: PassRecord) -> set[str]:
    """Operations whose VJPs may be others, for what was asked and drawn: not counting what comes
    back to them from others' VJPs."""
    a, b = before.request, now.request
    found = {ref.op for ref in a.stops ^ b.stops}
    found |= {edge.op for edge in a.stopped_edges ^ b.stopped_edges}
    found |= before.seeds.keys() | now.seeds.keys()
    asked_then, asked_now = ((r.stops, r.stopped_edges, r.overrides) for r in (a, b))
    users = before.functions | now.functions
    path = now.slice.path.values()
    if asked_then != asked_now or users:  # what lies in a loop may be meant
        found |= {op.name for op in path if loop_of(op) is not None}
    if users:
        found |= {name for name, vjp in before.vjps.items() if vjp.rule in users}
    if overrides := _toggled(a.overrides, b.overrides):
        found |= {op.name for op in path if any(o.matches(op) for o in overrides)}
    if before.slice is not now.slice:
        found |= {op.name for op in path if not now.slice.is_same_at(before.slice, op)}
    if before.slice.graph is not now.slice.graph:
        found |= set(_redrawn(before.slice.graph, now.slice))
    return found


def _toggled(before: Sequence[Override], now: Sequence[Override]) -> set[Override]:
    if before == now:
        return set()
    toggled = {*before} ^ {*now}
    kept = [[o for o in each if o not in toggled] for each in (before, now)]
    return toggled if kept[0] == kept[1] else {*before, *now}  # in another order: the last rules


def _redrawn(before: Graph, now: BackwardSlice) -> Iterator[str]:
    """Operations of `now` that are not what they were, or see other types or values."""
    old, new = infer_declared(before), infer_declared(now.graph)
    for name, op in now.path.items():
        seen = [name, *(ref.op for ref in op.inputs if ref is not None)]
        if before.operations.get(name) is not op or not all(_alike(old, new, n) for n in seen):
            yield name


def _alike(old: Inference, new: Inference, name: str) -> bool:
    """Whether the same is known of the operation's outputs."""
    if old.types.of.get(name) != new.types.of.get(name):
        return False
    a, b = old.constants.get(name), new.constants.get(name)
    if a is None or b is None:
        return a is b
    return a is b or (a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


class _Reuse:
    """Takes VJPs of `record`, which led to `graph`, into `builder`: those that follow one another
    at once."""

    def __init__(self, builder: GraphBuilder, record: PassRecord, graph: Graph) -> None:
        self._builder, self._graph, self._known = builder, graph, infer_declared(graph)
        self._vjps, self._starts = record.vjps, record.starts()
        self._names = list(graph.operations)
        self._start = self._stop = 0

    def take(self, name: str) -> VjpResult:
        """The VJP of operation `name`, as it was; `flush` puts its operations there."""
        vjp, start = self._vjps[name], self._starts[name]
        if start != self._stop:
            self.flush()
            self._start = start
        self._stop = start + vjp.made
        return vjp

    def flush(self) -> None:
        if self._start < self._stop:
            self._builder.repeat(self._graph, self._names[self._start : self._stop])
        self._start = self._stop = 0

    def went_alike(self, name: str, vjp: VjpResult) -> bool:
        """Whether `vjp`, made anew, gave what that of operation `name` gave before."""
        before = self._vjps.get(name)
        if before is None or before.made != vjp.made or before.sent != vjp.sent:
            return False
        return all(self._is_known(op) for op in self._builder.latest(vjp.made))

    def _is_known(self, op: Operation) -> bool:
        there = self._graph.operations.get(op.name) is op
        return there and _alike(self._known, self._builder.known, op.name)
