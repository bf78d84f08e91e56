"""A network that is in the graph already, applied again to other inputs with the same weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import LOOP, loop_of
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.relabel import relabel_loop
from gradstep.core.graph.scopes import is_inside
from gradstep.core.layers.outer_graph import Around
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.ops.build.collections import GraphKeys, is_in
from gradstep.core.ops.build.variable import VARIABLES, variable_read_by

NETWORK = "network"  # what a setting names that chooses one: see `Setting.names`


@dataclass(frozen=True)
class Network:
    """What is inside a scope, or what some tensors are computed from.

    name: of the scope, whose outputs are then the floating-point tensors that nothing in it reads;
    or of the tensors, separated by commas.
    """

    around: Around
    name: str

    def __call__(self, inputs: Sequence[Tensor], scope: str) -> list[Tensor]:
        """The outputs for `inputs`, which take the places of the network's own, in order: the
        operations are copied under `scope`, in the scope that is open; variables are shared.
        Raises GradstepError for more or fewer inputs than there are places."""
        outputs, within = self._outputs()
        inside = list(_computed(self.around.graph, [ref.op for ref in outputs], within))
        places = self._places(inside)
        if len(places) != len(inputs):
            read = ", ".join(ref.short for ref in places) or "nothing"
            raise self._refused(f"{len(inputs)} inputs are given, and the network reads {read}")
        with inputs[0].builder.scope(scope) as full:
            prefix = f"{within}/" if within else ""
            copies = _Copies(self.around, full, prefix, dict(zip(places, inputs, strict=True)))
            for op in inside:
                copies.add(op)
        return [copies.of(ref) for ref in outputs]

    def _outputs(self) -> tuple[list[TensorRef], str]:
        """The outputs, and the scope that the network ends at, "" for none."""
        graph, names = self.around.graph, [part.strip() for part in self.name.split(",")]
        refs = [TensorRef.parse(name) for name in names if name]
        if not refs:
            raise self._refused("choose a scope, or tensors, separated by commas")
        if all(ref.op in graph for ref in refs):
            return refs, ""
        within = [op for op in graph if is_inside(op.name, names[0])]
        if len(refs) > 1 or not within:
            raise self._refused("there is no scope and no operation of that name")
        found = list(ends(graph, within))
        floats = [ref for ref in found if self.around.type_of(ref).dtype.is_floating]
        return floats or found, names[0]

    def _places(self, inside: Sequence[Operation]) -> list[TensorRef]:
        """Tensors of the network that are neither its own nor variables or constants."""
        own = {op.name for op in inside}
        found = [op.output() for op in inside if op.type == "Placeholder"]
        for op in inside:
            found += [r for r in op.inputs if r and r.op not in own and self._varies(r.op)]
        return list(dict.fromkeys(found))

    def _varies(self, name: str) -> bool:
        """Whether the operation depends on anything that is fed or drawn."""
        graph = self.around.graph
        ancestors = (graph[n] for n in graph.ancestors([name]))
        return any(not op.inputs and op.type not in {"Const", *VARIABLES} for op in ancestors)

    def _refused(self, hint: str) -> GradstepError:
        said = f"'{self.name}' cannot be applied as a network" if self.name else "No network yet"
        return GradstepError(said, kind="ValueError", hint=hint)


@dataclass
class _Copies:
    """Copies of operations under `full`, in place of `prefix`. given: what stands for some of
    their tensors."""

    around: Around
    full: str
    prefix: str
    given: Mapping[TensorRef, Tensor]

    def __post_init__(self) -> None:
        self._made: dict[str, tuple[Tensor, ...]] = {}

    def add(self, op: Operation) -> None:
        if op.output() in self.given:
            return
        copy = replace(
            op,
            name=self._name(op.name),
            inputs=tuple(self.of(ref).ref if ref else None for ref in op.inputs),
            control_inputs=tuple(
                self._name(n) if n in self._made else n for n in op.control_inputs
            ),
        )
        loop = loop_of(op)
        if loop is not None:  # names in it are the whole document's
            copy = copy.with_attrs(**{LOOP: relabel_loop(loop, self._name)})
        self._made[op.name] = self.around.builder.add(copy)

    def of(self, ref: TensorRef) -> Tensor:
        """The copy's tensor for one of the original's; a shared one as it is."""
        if ref in self.given:
            return self.given[ref]
        if ref.op in self._made:
            return self._made[ref.op][ref.index]
        return self.around.tensor(ref)

    def _name(self, name: str) -> str:
        return f"{self.full}/{name.removeprefix(self.prefix)}"


def _computed(graph: Graph, names: Iterable[str], scope: str) -> Iterator[Operation]:
    """Operations of `scope` that `names` are computed from, sources first; without variables and
    what reads nothing but them, which are shared."""
    needed, stack = set[str](), list(names)
    while stack:
        name = stack.pop()
        if name in needed or (scope and not is_inside(name, scope)) or _is_shared(graph, name):
            continue
        needed.add(name)
        stack += [ref.op for ref in graph[name].inputs if ref is not None]
    return (graph[name] for name in graph.order if name in needed)


def _is_shared(graph: Graph, name: str) -> bool:
    return graph[name].type in VARIABLES or bool(variable_read_by(graph, name))


def ends(graph: Graph, operations: Sequence[Operation]) -> Iterator[TensorRef]:
    """What none of `operations` reads of the others; updates are nobody's output."""
    names = {op.name for op in operations}
    for op in operations:
        read = any(edge.op in names for edge in graph.consumers[op.name])
        if not read and op.inputs and not is_in(op, GraphKeys.UPDATE_OPS):
            yield op.output()
