"""A trace as a document: its graph lowered, weights and inputs in it, the loss differentiated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
)
from gradstep.core.debug.history.recorded_run import RecordedIterations, RecordedRun
from gradstep.core.document.document import CodeItem, CodeKind, Document, View
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.traces import pt2_file, trace_file
from gradstep.core.io.traces.lost_gradients import by_reason, called, in_words, lost_gradients
from gradstep.core.lowering.foreign_graph import (
    ForeignGraph,
    ForeignInput,
    ForeignRef,
    ForeignTensor,
    subgraphs,
)
from gradstep.core.lowering.lowered_graph import Lowered, lower
from gradstep.core.lowering.lowering_table import LoweringTable, element_type

_NODE = 10_000  # bytes of memory that a foreign operation takes as operations of ours, about
_EPSILON = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3,
    "float8_e5m2": 2.0**-2,
}
_NOT_HERE = (
    "is no operation that there is here: what is behind it runs once it is fed",
    "are no operations that there are here: what is behind them runs once they are fed",
)
MANY = 60  # nodes; a graph of more begins with its modules folded, too


@collector_paused()
def from_trace(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document of a trace's bytes. What Gradstep cannot lower is kept, fed with what was
    recorded, and a problem at its node. Raises GradstepError."""
    budget = budget or Budget()
    graph = trace_file.from_bytes(data, name, budget)
    return _within(budget, graph, name)


@collector_paused()
def from_pt2(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document of a .pt2's bytes, which has no values, no loss and no inputs."""
    budget = budget or Budget()
    graph = pt2_file.from_bytes(data, name, budget)
    return _within(budget, graph, name)


def _within(budget: Budget, graph: ForeignGraph, name: str) -> Document:
    budget.take(_NODE * _count(graph), "its operations")
    return to_document(graph, name)


def to_document(graph: ForeignGraph, name: str = "") -> Document:
    """The document of a foreign graph; `name` is that of its file. Raises GradstepError (FileError)
    where it begins with what there is nothing like here."""
    try:
        done = lower(graph, tables)
    except GradstepError as error:
        raise inside(name or "the graph", error, kind="FileError") from None
    traced = _Traced(graph, done)
    return Document(
        graph=done.graph,
        request=traced.request(),
        initial=traced.initial(),
        feeds=traced.feeds(),
        fetches=traced.fetches(),
        targets=traced.targets(),
        code=traced.code(),
        title=PurePath(name).name or graph.title,
        note=traced.note(),
        view=View(collapsed=traced.collapsed()),
        recorded=traced.recorded(),
    )


def tables(framework: str) -> LoweringTable | None:
    """The lowerings of operations whose names begin so."""
    from gradstep.core.lowering.aten import ATEN
    from gradstep.core.lowering.aten.aten_table import PYTHON
    from gradstep.core.lowering.control_lowerings import CONTROL
    from gradstep.core.lowering.lax import LAX
    from gradstep.core.lowering.onnx import ONNX

    found = {"aten": ATEN, "control": CONTROL, "lax": LAX, "onnx": ONNX, "python": PYTHON}
    return found.get(framework)


@dataclass(frozen=True)
class _Traced:
    """A foreign graph and what it was lowered to, read for the parts of a document."""

    graph: ForeignGraph
    done: Lowered

    def request(self) -> GradientRequest:
        """The loss, with respect to what is trained."""
        of = self._results("loss")
        wrt = [self._variable(one) for one in self.graph.inputs if one.trained]
        own = tuple(
            Override(key, op, OverrideKind.OP, enabled=False)
            for key, (op, _) in self.done.gradients.items()
        )
        return GradientRequest(of=of, wrt=tuple(wrt), overrides=own) if of else GradientRequest()

    def code(self) -> dict[str, CodeItem]:
        """Backward functions of the program's own: they run when their override is switched on,
        and they are trusted."""
        return {
            key: CodeItem(key, CodeKind.GRADIENT, text)
            for key, (_, text) in self.done.gradients.items()
        }

    def initial(self) -> dict[str, Constant]:
        return {
            self.done.variables[one.name]: _constant(one)
            for one in self.graph.inputs
            if one.name in self.done.variables
        }

    def feeds(self) -> dict[str, Constant]:
        given = {
            str(self._tensor(ForeignRef(one.name))): _constant(one)
            for one in self.graph.inputs
            if one.kind == "input" and one.tensor.value is not None
        }
        return given | {str(ref): Constant.taking(array) for ref, array in self.done.fed.items()}

    def fetches(self) -> tuple[TensorRef, ...]:
        return (*self._results("loss"), *self._results("output"))

    def targets(self) -> tuple[str, ...]:
        """What moves buffers along, after each run."""
        named = (f"{variable}/update" for variable in self.done.variables.values())
        return tuple(name for name in named if name in self.done.graph)

    def collapsed(self) -> frozenset[str]:
        """Each foreign operation is one box; in a large graph, so is each module."""
        scopes = frozenset(self.done.scopes.values())
        if _count(self.graph) <= MANY:
            return scopes
        return scopes | {scope for op in self.done.graph for scope in parents(op.name)}

    def note(self) -> str:
        """What whoever opens it should know."""
        lines = [f"Traced from {self.graph.title or 'a model'} by {self.graph.framework}."]
        lines += [remark.text for remark in self.graph.remarks]
        if not self._results("loss"):
            trains = any(one.trained for one in self.graph.inputs)
            offered = ": the Gradients panel offers some." if trains else "."
            lines.append(f"It has no loss{offered}")
        if missing := [name for name in _short_types(self.graph) if element_type(name) != name]:
            lines.append(f"{', '.join(missing)} is computed as float32 here.")
        lines += _unlowered(self.graph, self.done)
        if drawing := _drawn_anew(self.graph):
            lines.append(
                f"{', '.join(drawing)} draws other numbers than {_named(self.graph.framework)} "
                "did: what is drawn in a loop, or in a branch that was not taken, is not recorded."
            )
        lines += [
            f"{key} has a backward of its own. It is here as a gradient function, and off: switch "
            f"its override on at {op}, and trust it."
            for key, (op, _) in self.done.gradients.items()
        ]
        lines += [
            f"{key} has a backward of its own, which is not here: {why}."
            for key, why in self.done.unwritten.items()
        ]
        return "\n\n".join(lines)

    def recorded(self) -> RecordedRun:
        values, gradients, none = {}, {}, set()
        for node in self.graph.all_nodes():
            for number, told in enumerate(node.outputs):
                ref = self.done.tensors.get(ForeignRef(node.name, number))
                if ref is None or node.name in self.done.unlowered:
                    continue
                if told.value is not None:
                    values[str(ref)] = Constant.taking(told.value)
                if told.gradient is not None:
                    gradients[str(ref)] = Constant.taking(told.gradient)
        for one in self.graph.inputs:
            ref = self._variable(one) if one.name in self.done.variables else None
            if ref is not None and one.tensor.gradient is not None:
                gradients[str(ref)] = Constant.taking(one.tensor.gradient)
            elif ref is not None and one.trained and self._results("loss"):
                none.add(str(ref))
        return RecordedRun(
            source=self.graph.framework,
            of="".join(map(str, self._results("loss")[:1])),
            epsilon=max((_EPSILON[name] for name in _short_types(self.graph)), default=0.0),
            values=values,
            gradients=gradients,
            iterations=self._iterations(),
            none=frozenset(none),
            remarks=self._remarks(),
            sources=self.graph.sources,
            paths=self.graph.paths,
        )

    def _iterations(self) -> dict[str, RecordedIterations]:
        """Of what is in loops; of what enters a loop's body as well."""
        found = {}
        for ref, told in _in_loops(self.graph):
            held, known = self.done.tensors.get(ref), told.iterations
            if held is not None and known is not None:
                back = None if known.gradients is None else Constant.taking(known.gradients)
                places, values = map(Constant.taking, (known.places, known.values))
                found[str(held)] = RecordedIterations(places, values, back)
        return found

    def _remarks(self) -> dict[str, str]:
        """Of a weight, what the exporter knows, and what is known here."""
        found = {
            self.done.variables[remark.input]: remark.text
            for remark in self.graph.remarks
            if remark.input in self.done.variables
        }
        named = _named(self.graph.framework)
        for name, nodes in lost_gradients(self.graph, self.done, self._results("loss")).items():
            said = [found[name]] if name in found else []
            found[name] = "; ".join([*said, in_words(nodes, named)])
        return found

    def _results(self, kind: str) -> tuple[TensorRef, ...]:
        found = (self._tensor(r.value) for r in self.graph.results if r.kind == kind)
        return tuple(dict.fromkeys(ref for ref in found if ref is not None))

    def _tensor(self, ref: ForeignRef) -> TensorRef | None:
        return self.done.tensors.get(ref)

    def _variable(self, one: ForeignInput) -> TensorRef:
        return TensorRef(self.done.variables[one.name])


def _constant(one: ForeignInput) -> Constant:
    assert one.tensor.value is not None
    return Constant.taking(one.tensor.value)


def _short_types(graph: ForeignGraph) -> list[str]:
    return sorted({t.dtype for t in _tensors(graph)} & _EPSILON.keys())


def _tensors(graph: ForeignGraph) -> Iterator[ForeignTensor]:
    for one in graph.inputs:
        yield one.tensor
    for node in graph.all_nodes():
        yield from node.outputs


def _in_loops(graph: ForeignGraph) -> Iterator[tuple[ForeignRef, ForeignTensor]]:
    """What may have been computed many times: tensors of branches and loops, what they begin with
    before all, so that what passes it on has its own say."""
    for node in graph.all_nodes():
        for inner in subgraphs([*node.args.values()]):
            yield from zip(map(ForeignRef, inner.inputs), inner.types, strict=True)
    for node in graph.all_nodes():
        for number, told in enumerate(node.outputs):
            yield ForeignRef(node.name, number), told


def _count(graph: ForeignGraph) -> int:
    return sum(1 for _ in graph.all_nodes())


def _drawn_anew(graph: ForeignGraph) -> list[str]:
    """What draws in branches and loops, and has no record of what it drew."""
    outside = {node.name for node in graph.nodes}
    found = []
    for node in graph.all_nodes():
        table = tables(node.op.partition(".")[0])
        lowering = None if table is None or node.name in outside else table.find(node.op)
        drawn = lowering is not None and lowering.draws
        if drawn and all(told.value is None and told.iterations is None for told in node.outputs):
            found.append(node.name)
    return found


def _named(framework: str) -> str:
    """As people call it."""
    return {"torch": "PyTorch", "jax": "JAX"}.get(framework.partition(" ")[0], framework)


def _unlowered(graph: ForeignGraph, done: Lowered) -> list[str]:
    """What stays as it is, each type of operation once, and why; gradients end there."""
    named, foreign = _named(graph.framework), graph.framework.startswith("ONNX")
    kept = (f"stays as {named} computed it", f"stay as {named} computed them")
    one, many = _NOT_HERE if foreign else kept
    return [
        f"{called(names)} {one if len(names) == 1 else many}, and gradients end there: {why}."
        for names, why in by_reason(graph, done.unlowered)
    ]
