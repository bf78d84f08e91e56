"""Reading a trace, .gstrace: a zip whose graph.json tells of a foreign graph."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.native.zip_archive import Archive
from gradstep.core.io.traces import trace_schema
from gradstep.core.json_text import UNREADABLE, why_unreadable
from gradstep.core.lowering.foreign_graph import (
    CustomFunction,
    ElementType,
    ForeignGraph,
    ForeignInput,
    ForeignIterations,
    ForeignNode,
    ForeignRef,
    ForeignResult,
    ForeignSubgraph,
    ForeignTensor,
    Remark,
    SourceLine,
    Symbol,
)

MEMBER = "graph.json"
_KINDS = frozenset({"parameter", "buffer", "constant", "input"})
_RESULTS = frozenset({"loss", "output", "update"})
_LOOPS = frozenset({"control.while_loop", "control.scan"})
_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.\-/]*")  # of a node: what a scope may be called
_DEEP = 8  # lists in lists, as arguments
_HINT = "write the trace again with the exporter (gradstep capture torch, or jax)"


def from_bytes(data: bytes, name: str = "", budget: Budget | None = None) -> ForeignGraph:
    """The graph in a trace's bytes; `name` is the file's, for messages. Raises GradstepError:
    FileError, or OverBudgetError where it takes more memory than `budget` allows."""
    try:
        archive = Archive(data, budget, "a trace of a model", _HINT)
        return _Trace(archive, _record(archive)).graph()
    except GradstepError as error:
        raise inside(name or "the trace", error, kind="FileError") from None


class _Versioned(msgspec.Struct):
    format: str
    version: int


def _record(archive: Archive) -> trace_schema.TraceRecord:
    text = archive.json(MEMBER)
    try:
        head = msgspec.json.decode(text, type=_Versioned)
        if head.format == trace_schema.FORMAT and head.version <= trace_schema.VERSION:
            return msgspec.json.decode(text, type=trace_schema.TraceRecord)
    except UNREADABLE as error:
        raise bad(f"{MEMBER} is not valid: {why_unreadable(error)}") from None
    if head.format != trace_schema.FORMAT:
        raise bad(f"{MEMBER} is of the format '{head.format:.40}', not {trace_schema.FORMAT}")
    raise GradstepError(
        f"written for a newer Gradstep (trace format {head.version}; this one reads up to "
        f"{trace_schema.VERSION})",
        kind="FileError",
        hint="update Gradstep, or write the trace with the exporter that came with this one",
    )


class _Trace:
    """The parts of one trace, checked as they are read: every name leads somewhere."""

    def __init__(self, archive: Archive, record: trace_schema.TraceRecord) -> None:
        self._archive, self._record = archive, record
        self._outputs: dict[str, int] = {}  # of each input and node there is so far in this graph
        self._taken: set[str] = set()  # names, of those in other graphs as well
        self._depth = 0  # of graphs in graphs
        self._loops = 0  # of these, those of loops

    def graph(self) -> ForeignGraph:
        record = self._record
        inputs = tuple(map(self._input, record.inputs))
        nodes = tuple(map(self._node, record.nodes))
        functions = {key: self._function(key, one) for key, one in record.functions.items()}
        return ForeignGraph(
            framework=f"{record.framework.name} {record.framework.version}".strip(),
            title=record.title,
            inputs=inputs,
            nodes=nodes,
            results=tuple(map(self._result, record.outputs)),
            symbols=record.symbols,
            functions=functions,
            sources={file: self._source(file) for file in record.sources if self._has(file)},
            paths={file: path for file, path in record.sources.items() if path},
            remarks=tuple(Remark(r.text, r.input) for r in record.remarks),
        )

    def _input(self, one: trace_schema.InputRecord) -> ForeignInput:
        self._declare(one.name, 1)
        if one.kind not in _KINDS:
            raise bad(f"input '{one.name}' is of the unknown kind '{one.kind:.40}'")
        if not one.tensor and one.kind != "input":
            raise bad(f"input '{one.name}' has no value")
        held = trace_schema.TensorRecord(one.dtype, one.shape, one.tensor, one.gradient)
        tensor = self._tensor(held, f"input '{one.name}'")
        aliases = tuple(one.aliases)
        return ForeignInput(one.name, one.kind, tensor, one.trained, aliases, one.written)

    def _node(self, one: trace_schema.NodeRecord) -> ForeignNode:
        if "." not in one.op:
            raise bad(f"node '{one.name}' has the operation '{one.op:.40}', of no framework")
        loop = one.op in _LOOPS
        self._loops += loop
        args = {key: self._argument(v, one.name) for key, v in one.args.items()}
        self._loops -= loop
        self._declare(one.name, len(one.outputs))
        where = f"node '{one.name}'"
        outputs = tuple(self._tensor(o, where) for o in one.outputs)
        lines = tuple(SourceLine(*frame) for frame in one.frames)
        return ForeignNode(
            one.name, one.op, args, outputs, one.module, lines, one.function, one.backward
        )

    def _function(self, key: str, one: trace_schema.FunctionRecord) -> CustomFunction:
        if not (key.isascii() and key.isidentifier()):
            raise bad(f"'{key:.40}' is no name for a function")
        inputs, outputs, given = (
            tuple(self._end(value, key) for value in part)
            for part in (one.inputs, one.outputs, one.cotangents)
        )
        back = tuple(None if v is None else self._end(v, key) for v in one.gradients)
        if len(given) != len(outputs) or len(back) != len(inputs):
            raise bad(f"the backward of '{key}' does not fit it")
        return CustomFunction(one.name, one.source, inputs, outputs, given, back)

    def _end(self, value: dict[str, Any], key: str) -> ForeignRef:
        ref = self._argument(value, key)
        if not isinstance(ref, ForeignRef):
            raise bad(f"the backward of '{key}' has an end that is no tensor")
        return ref

    def _declare(self, name: str, outputs: int) -> None:
        if not _NAME.fullmatch(name) or "//" in name or name.endswith("/"):
            raise bad(f"'{name:.60}' is no name for an operation")
        if name in self._taken:
            raise bad(f"there are two of the name '{name}'")
        self._taken.add(name)
        self._outputs[name] = outputs

    def _tensor(self, one: trace_schema.TensorRecord, where: str) -> ForeignTensor:
        shape = tuple(one.shape)
        if any(isinstance(size, int) and size < 0 for size in shape):
            raise bad(f"{where} has the shape {one.shape}")
        value, gradient = (
            self._array(member, one.dtype, shape, where) for member in (one.value, one.gradient)
        )
        iterations = self._iterations(one, shape, where)
        return ForeignTensor(one.dtype, shape, value, gradient, iterations)

    def _iterations(
        self, one: trace_schema.TensorRecord, shape: tuple[int | str, ...], where: str
    ) -> ForeignIterations | None:
        if not (one.values and one.iterations):
            return None
        places = self._archive.tensor(one.iterations)
        if places.ndim != 2 or not np.issubdtype(places.dtype, np.integer):
            raise bad(f"{where}: {one.iterations} has no row of whole numbers for each time")
        if not self._loops or places.shape[1] != self._loops:
            counted = f"{self._loops} loops, and {one.iterations} tells of {places.shape[1]}"
            raise bad(f"{where} is in {counted}")
        if not _ascends(places):
            raise bad(f"{where}: the iterations in {one.iterations} do not ascend from 0")
        rows = (len(places), *shape)
        return ForeignIterations(
            places.astype(np.int64, copy=False),
            self._rows(one.values, one.dtype, rows, where),
            self._rows(one.gradients, one.dtype, rows, where) if one.gradients else None,
        )

    def _rows(
        self, member: str, dtype: str, shape: tuple[int | str, ...], where: str
    ) -> np.ndarray:
        found = self._array(member, dtype, shape, where)
        assert found is not None
        return found

    def _array(
        self, member: str, dtype: str, shape: tuple[int | str, ...], where: str
    ) -> np.ndarray | None:
        if not member:
            return None
        array = self._archive.tensor(member)
        fits = len(array.shape) == len(shape) and all(
            isinstance(told, str) or told == size
            for told, size in zip(shape, array.shape, strict=True)
        )
        if not fits:
            raise bad(f"{where}: {member} has the shape {list(array.shape)}, not {list(shape)}")
        # Who has no bfloat16 has written it as float32.
        return array.astype(BFLOAT16) if dtype == "bfloat16" else array

    def _argument(self, value: Any, node: str, depth: int = 0) -> Any:
        """What is written for a tensor, a size, an element type or an infinite number, as that."""
        if isinstance(value, list):
            if depth > _DEEP:
                raise bad(f"node '{node}' has lists in lists in lists")
            return [self._argument(one, node, depth + 1) for one in value]
        if not isinstance(value, dict):
            return value
        match value:
            case {"ref": str(), **rest}:
                return self._ref(value, rest, node)
            case {"symbol": str(text)}:
                return Symbol(text)
            case {"dtype": str(name)}:
                return ElementType(name)
            case {"float": ("inf" | "-inf" | "nan") as text}:
                return float(text)
            case {"graph": dict(inner)}:
                return self._subgraph(inner, node)
        raise bad(f"node '{node}' has an argument that is no value: {value!s:.60}")

    def _subgraph(self, inner: dict[str, Any], node: str) -> ForeignSubgraph:
        """It reads nothing from outside; but no name is there twice."""
        try:
            record = msgspec.convert(inner, trace_schema.SubgraphRecord)
        except UNREADABLE as error:
            raise bad(f"a graph in node '{node}' is not valid: {why_unreadable(error)}") from None
        if self._depth > _DEEP:
            raise bad(f"node '{node}' has graphs in graphs in graphs")
        outside, self._outputs = self._outputs, {}
        self._depth += 1
        for one in record.inputs:
            self._declare(one.name, 1)
        types = tuple(self._tensor(one, f"input '{one.name}'") for one in record.inputs)
        nodes = tuple(map(self._node, record.nodes))
        results = tuple(self._argument(value, node) for value in record.outputs)
        self._outputs = outside
        self._depth -= 1
        return ForeignSubgraph(tuple(one.name for one in record.inputs), types, nodes, results)

    def _ref(self, value: dict[str, Any], rest: dict[str, Any], node: str) -> ForeignRef:
        name, output = value["ref"], rest.get("output", 0)
        if name not in self._outputs:
            raise bad(f"node '{node}' takes '{name:.60}', which is not before it")
        if not isinstance(output, int) or not 0 <= output < self._outputs[name]:
            raise bad(f"node '{node}' takes output {output!r:.20} of '{name}', which has none")
        return ForeignRef(name, output)

    def _result(self, one: trace_schema.ResultRecord) -> ForeignResult:
        if one.kind not in _RESULTS:
            raise bad(f"an output is of the unknown kind '{one.kind:.40}'")
        value = self._argument(one.value, "the end")
        if not isinstance(value, ForeignRef):
            raise bad("an output is no tensor")
        return ForeignResult(one.kind, value, one.target)

    def _has(self, file: str) -> bool:
        return f"sources/{file}" in self._archive

    def _source(self, file: str) -> str:
        return self._archive.text(f"sources/{file}")


def _ascends(places: np.ndarray) -> bool:
    """Whether each row comes behind the one before it, and none has a number below 0."""
    steps = np.diff(places, axis=0)
    first = np.argmax(steps != 0, axis=1)
    ahead = np.take_along_axis(steps, first[:, None], axis=1) > 0
    return bool(ahead.all() and (places >= 0).all())


def bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint=_HINT)
