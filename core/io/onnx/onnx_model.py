"""Reading an ONNX model: its operators, one by one, as a foreign graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.onnx.onnx_attributes import Attributes
from gradstep.core.io.onnx.onnx_functions import Functions
from gradstep.core.io.onnx.onnx_names import Names, fit, joined, module_path, other_than
from gradstep.core.io.onnx.onnx_scope import OnnxScope, bad
from gradstep.core.io.onnx.onnx_tensors import Tensors
from gradstep.core.io.onnx.onnx_types import UNTOLD, read_type, stored_as
from gradstep.core.io.onnx.onnx_weights import WeightUses
from gradstep.core.io.traces.torch_frames import own_files, source_lines
from gradstep.core.lowering.foreign_graph import (
    ForeignGraph,
    ForeignInput,
    ForeignNode,
    ForeignRef,
    ForeignResult,
    ForeignSubgraph,
    ForeignTensor,
    Remark,
    SourceLine,
)
from gradstep.core.lowering.onnx.onnx_table import CAPTURED, INPUTS

NODE = 10_000  # bytes of memory that an operator takes as operations of ours, about
_DEEP = 30  # functions in functions, and graphs in graphs
_STANDARD = {
    "": "onnx",
    "ai.onnx": "onnx",
    "ai.onnx.preview": "onnx",
    "ai.onnx.preview.training": "onnx",
}
_TRACE = "pkg.torch.onnx.stack_trace"  # what PyTorch's exporter notes at a node: its lines


class ModelReader:
    """Reads one ModelProto. name: of its file, beside which tensors may lie."""

    def __init__(self, proto: Any, name: str, budget: Budget) -> None:
        self._proto, self._budget = proto, budget
        self._tensors = Tensors(name, budget)
        self._attributes = Attributes(self._tensors, self._graph)
        self._functions = Functions(proto)
        self._names = Names()
        self._inputs: list[ForeignInput] = []
        self._scope = OnnxScope(None, self._names)
        self._types: dict[str, ForeignTensor] = {}
        self._places: dict[str, str] = {}
        self._is_of_torch = proto.producer_name == "pytorch"
        self._versions: Mapping[str, int] = self._functions.versions
        self._files: set[str] = set()
        self._remarks: list[Remark] = []
        self._depth = 0

    def graph(self) -> ForeignGraph:
        """Raises GradstepError: FileError, or OverBudgetError."""
        graph = self._proto.graph
        try:
            self._begin(graph)
            self._nodes(graph.node, "")
            results = [
                self._output(one.name, ref)
                for one in graph.output
                if (ref := self._scope.find(one.name)) is not None
            ]
        finally:
            self._tensors.close()
        return ForeignGraph(
            framework=f"ONNX {self._versions.get('', 0)}",
            title=graph.name,
            inputs=tuple(self._inputs),
            nodes=tuple(self._scope.nodes),
            results=tuple(results),
            paths={file: file for file in sorted(self._files)},
            remarks=tuple(self._remarks),
        )

    # -- what it begins with -------------------------------------------------------------------

    def _begin(self, graph: Any) -> None:
        self._note_types(graph)
        self._note_places(graph)
        held = {one.name for one in graph.initializer}
        held |= {one.values.name for one in graph.sparse_initializer}
        for one in graph.input:
            if one.name not in held:  # of old files, each weight is an input, too
                self._placeholder(one)
        uses = WeightUses(graph)
        for one in graph.initializer:
            self._weight(one.name, self._tensors.read(one), uses, stored_as(one.data_type).name)
        for one in graph.sparse_initializer:
            self._weight(one.values.name, self._attributes.dense(one), uses)

    def _placeholder(self, proto: Any) -> None:
        told = read_type(proto.type)
        if not told.dtype:
            kind = proto.type.WhichOneof("value") or "of no type"
            words = kind.removesuffix("_type").replace("_", " ")
            text = f"Its input '{proto.name}' is a {words}, which nothing can be given for here."
            self._remarks.append(Remark(text))
            told = replace(UNTOLD, dtype="float32")
        own = self._names.unique(proto.name, "input")
        written = other_than(own, proto.name)
        self._declare(ForeignInput(own, "input", told, written=written), proto.name)

    def _weight(self, name: str, array: np.ndarray, uses: WeightUses, dtype: str = "") -> None:
        kind, trained = uses.kind(name, array)
        is_folded = self._is_of_torch and "." not in name  # what an exporter computed, and named
        if is_folded and array.size == 1:
            kind, trained = "constant", False
        told = ForeignTensor(dtype or str(array.dtype), array.shape, array)
        path = self._places.get(name, "") if kind == "constant" or is_folded else ""
        own = self._names.unique(joined([path, name]), "weight")
        self._declare(ForeignInput(own, kind, told, trained, written=other_than(own, name)), name)

    def _declare(self, given: ForeignInput, name: str) -> None:
        self._inputs.append(given)
        fixed = given.tensor.value if given.kind == "constant" else None
        self._scope.put(name, ForeignRef(given.name), fixed)

    def _note_places(self, graph: Any) -> None:
        """Where each tensor is read first: that is where a constant belongs."""
        for node in graph.node:
            path = self._name(node, "").rpartition("/")[0]
            for one in node.input:
                self._places.setdefault(one, path)

    def _note_types(self, graph: Any) -> None:
        for one in (*graph.value_info, *graph.output):
            self._types[one.name] = read_type(one.type)

    def _output(self, name: str, ref: ForeignRef) -> ForeignResult:
        """What a model says that it gives goes by the name that it says."""
        own = ForeignRef(self._names.unique(name, "output"))
        return ForeignResult("output", own, name=fit(name) or own.node, source=ref)

    # -- operators -----------------------------------------------------------------------------

    def _nodes(self, nodes: Iterable[Any], where: str) -> None:
        for node in nodes:
            function = self._functions.find(node)
            if function is not None:
                self._call(node, function, where)
            elif node.op_type == "Constant" and node.domain in _STANDARD and len(node.output) == 1:
                self._constant(node)
            else:
                self._node(node, where)

    def _constant(self, node: Any) -> None:
        told = self._attributes.read(node.attribute)
        array = self._attributes.constant(told)
        if self._scope.is_inside:
            self._scope.put_constant(node.output[0], array)
            return
        dtype = "string" if array.dtype == object else str(array.dtype)
        path = self._places.get(node.output[0], "")
        own = self._names.unique(joined([path, node.output[0].split("/")[-1]]), "Constant")
        tensor = ForeignTensor(dtype, array.shape, array)
        self._declare(ForeignInput(own, "constant", tensor), node.output[0])

    def _node(self, node: Any, where: str) -> None:
        self._budget.take(NODE, "its operators")
        noted = _noted(node)
        name = self._names.unique(self._name(node, where), node.op_type)
        args: dict[str, Any] = {INPUTS: [self._scope.ref(one, name) for one in node.input]}
        captured: list[OnnxScope] = []
        args |= self._attributes.read(node.attribute, captured)
        if captured:
            args[CAPTURED] = self._captured(args, captured, name)
        outputs = _without_end(node.output)
        self._scope.nodes.append(
            ForeignNode(
                name=name,
                op=self._op(node),
                args=args,
                outputs=tuple(self._types.get(one, UNTOLD) for one in outputs),
                lines=self._lines(noted.get(_TRACE, "")),
                written=other_than(name, node.name),
            )
        )
        for number, one in enumerate(outputs):
            if one:
                self._scope.put(one, ForeignRef(name, number))

    def _name(self, node: Any, where: str) -> str:
        """What a node is called, with the module that it was exported from. PyTorch puts "node_"
        before its names."""
        own = node.name.removeprefix("node_") if self._is_of_torch else node.name
        return joined([where, module_path(_noted(node)), own or node.op_type])

    def _op(self, node: Any) -> str:
        table = _STANDARD.get(node.domain) or node.domain.replace(" ", "_") or "onnx"
        version = self._versions.get(node.domain, self._versions.get("", 1))
        return f"{table}.{node.op_type.replace('.', '_') or 'unnamed'}.{version}"

    def _lines(self, trace: str) -> tuple[SourceLine, ...]:
        found = source_lines(trace[:20_000])
        self._files |= own_files(found)
        return found

    # -- graphs in operators -------------------------------------------------------------------

    def _graph(self, graph: Any, captured: list[OnnxScope] | None) -> ForeignSubgraph:
        """The function of a branch or a loop, whose names are its own; what it reads from outside
        is noted in its scope."""
        if captured is None:
            raise bad("it has a graph where there can be none")
        self._enter(graph.name)
        outside, types = self._scope, self._types
        self._scope, self._types = OnnxScope(outside, self._names), dict(types)
        self._note_types(graph)
        inputs, told = [], []
        for one in graph.input:
            own = self._names.unique(one.name, "input")
            inputs.append(own)
            told.append(read_type(one.type))
            self._scope.put(one.name, ForeignRef(own))
        for one in graph.initializer:
            self._scope.put_constant(one.name, self._tensors.read(one))
        for one in graph.sparse_initializer:
            self._scope.put_constant(one.values.name, self._attributes.dense(one))
        self._nodes(graph.node, "")
        results = [self._scope.ref(one.name, graph.name or "its graph") for one in graph.output]
        if None in results:
            raise bad(f"graph '{graph.name:.60}' has an output without a name")
        captured.append(self._scope)
        made = ForeignSubgraph(tuple(inputs), tuple(told), tuple(self._scope.nodes), tuple(results))
        self._scope, self._types = outside, types
        self._depth -= 1
        return made

    def _captured(
        self, args: dict[str, Any], scopes: Sequence[OnnxScope], name: str
    ) -> list[ForeignRef | None]:
        """What the graphs of one operator read from outside, all of it together: each of them gets
        it behind its own inputs."""
        wanted = [*dict.fromkeys(one for scope in scopes for one in scope.captured)]
        graphs = [key for key, value in args.items() if isinstance(value, ForeignSubgraph)]
        for key, scope in zip(graphs, scopes, strict=True):
            own = [scope.captured.get(one) or self._names.unique(one, "captured") for one in wanted]
            graph = args[key]
            args[key] = replace(
                graph,
                inputs=(*graph.inputs, *own),
                types=(*graph.types, *([UNTOLD] * len(own))),
            )
        return [self._scope.ref(one, name) for one in wanted]

    # -- functions -----------------------------------------------------------------------------

    def _call(self, node: Any, function: Any, where: str) -> None:
        """A function of the model's where it is called, in a scope of the call's name."""
        self._enter(node.op_type)
        name = self._names.unique(joined([where, node.name or node.op_type]), "function")
        given = [self._scope.ref(one, name) for one in node.input]
        fixed = [self._scope.constant(one) for one in node.input]
        own = self._attributes.of_call(node.attribute, function)
        outside = self._scope, self._types, self._versions, self._attributes
        inner = self._scope.of_function()
        for number, one in enumerate(function.input):
            ref = given[number] if number < len(given) else None
            if ref is not None:
                inner.put(one, ref, fixed[number])
        self._scope, self._types, self._attributes = inner, {}, own
        self._versions = self._functions.versions_of(function)
        self._nodes(function.node, name)
        results = [inner.find(one) for one in function.output]
        self._scope, self._types, self._versions, self._attributes = outside
        for one, ref in zip(node.output, results, strict=False):
            if one and ref is not None:
                self._scope.put(one, ref)
        self._depth -= 1

    def _enter(self, what: str) -> None:
        self._depth += 1
        if self._depth > _DEEP:
            raise bad(f"'{what:.60}' is in itself, or in more than {_DEEP} others")


def _noted(node: Any) -> dict[str, str]:
    return {one.key: one.value for one in node.metadata_props}


def _without_end(names: Iterable[str]) -> list[str]:
    found = [*names]
    while found and not found[-1]:
        found.pop()
    return found
