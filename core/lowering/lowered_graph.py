"""A foreign graph lowered: each of its nodes is a scope of ours, with where it is from at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.foreign_origin import (
    FOREIGN_NAME,
    FOREIGN_OP,
    FOREIGN_SCOPE,
    FROZEN,
    OWN_GRADIENT,
    SOURCE_LINE,
)
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.lowering.foreign_graph import (
    CustomFunction,
    ForeignGraph,
    ForeignInput,
    ForeignNode,
    ForeignRef,
    ForeignResult,
    ForeignSubgraph,
    ForeignTensor,
    SourceLine,
    subgraphs,
    with_inner,
)
from gradstep.core.lowering.gradient_source import GradientSource, gradient_source
from gradstep.core.lowering.lowering_table import (
    LoweringTable,
    Site,
    UnloweredError,
    element_type,
    fixed,
)
from gradstep.core.lowering.short_floats import lower_as_computed
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.variable import TRAINABLE

_LIBRARIES = ("torch/", "jax/", "flax/", "equinox/", "optax/", "site-packages/")

_MARKS = frozenset({FOREIGN_NAME, FOREIGN_OP, FOREIGN_SCOPE, SOURCE_LINE})
_UNTOLD = "float32"  # what is taken for an element type that is not told
Tables = Callable[[str], LoweringTable | None]


@dataclass
class Lowered:
    """What came of a foreign graph.

    graph:      ours.
    tensors:    what stands for each foreign tensor.
    scopes:     node -> its scope.
    variables:  parameter or buffer -> the variable that holds it.
    unlowered:  node -> why it stays as it is: an operation of a type that there is not, whose
                outputs are fed with what was recorded. fed: these outputs, and that.
    gradients:  custom function -> the operation that it may be the gradient of, and its text.
    unwritten:  those that have none, and why.
    """

    graph: Graph = field(default_factory=Graph)
    tensors: dict[ForeignRef, TensorRef] = field(default_factory=dict)
    scopes: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    unlowered: dict[str, str] = field(default_factory=dict)
    fed: dict[TensorRef, np.ndarray] = field(default_factory=dict)
    gradients: dict[str, tuple[str, str]] = field(default_factory=dict)
    unwritten: dict[str, str] = field(default_factory=dict)


def lower(graph: ForeignGraph, tables: Tables) -> Lowered:
    """`graph` in our operations. tables: the lowerings of a framework by the first part of its
    operations' names. Never raises for an operation that cannot be lowered."""
    return _GraphLowering(graph, tables).run()


class _GraphLowering:
    def __init__(self, graph: ForeignGraph, tables: Tables) -> None:
        self._graph, self._tables = graph, tables
        self._builder = GraphBuilder()
        self._tensors: dict[ForeignRef, Tensor] = {}
        self._values: dict[TensorRef, np.ndarray] = {}
        self._types: dict[TensorRef, str] = {}
        self._unknown: dict[str, Operation] = {}
        self._waiting = {given.name: given for given in graph.inputs}
        self._done = Lowered()
        self._depth = 0  # of branches and loops that we are in
        self._iterations: tuple[Tensor, ...] = ()  # the number of each of these loops'

    def run(self) -> Lowered:
        with self._builder.as_default():
            for node in self._graph.nodes:
                if node.backward:
                    continue
                self._begin_all(self._first_read(node))
                self._node(node)
                self._functions(node.name)
            self._begin_all([*self._waiting.values()])
            for result in self._graph.results:
                if result.kind == "update":
                    self._update(result.target, result.value)
                if result.source is not None:
                    self._tensors[result.value] = self._output(result, self._tensors[result.source])
            self._leave_out_unread()
        self._done.graph = self._with_unknown(self._builder.build())
        self._done.tensors = {ref: tensor.ref for ref, tensor in self._tensors.items()}
        return self._done

    def _first_read(self, node: ForeignNode) -> list[ForeignInput]:
        """The inputs of the graph that nobody has read before: each comes where it is needed."""
        names = dict.fromkeys(ref.node for ref in _refs_in([*node.args.values()]))
        return [self._waiting[name] for name in names if name in self._waiting]

    def _begin_all(self, inputs: Sequence[ForeignInput]) -> None:
        for given in inputs:
            if self._waiting.pop(given.name, None) is not None:
                made = self._builder.mark(self._input(given), **_name(given.written))
                self._keep(given.name, [made], [given.tensor])

    def _leave_out_unread(self) -> None:
        """Constants that only said how something is done (an axis, a shape) say it there."""
        read = {ref.op for name in self._builder.made_since(0)
                for ref in self._builder.operation(name).inputs if ref is not None}  # fmt: skip
        read |= {ref.op for op in self._unknown.values() for ref in op.inputs if ref is not None}
        wanted = {ref for result in self._graph.results for ref in (result.value, result.source)}
        for given in self._graph.inputs:
            ref = ForeignRef(given.name)
            if given.kind == "constant" and ref not in wanted:
                name = self._tensors[ref].ref.op
                if name not in read:
                    self._builder.detach([name])
                    self._values.pop(self._tensors.pop(ref).ref, None)

    def _input(self, given: ForeignInput) -> Tensor:
        name, kind = given.name.replace(".", "/"), element_type(given.tensor.dtype)
        shape = [size if isinstance(size, int) else None for size in given.tensor.shape]
        if given.kind == "input":
            return self._builder.placeholder(name, kind, shape if given.tensor.has_rank else None)
        if given.kind == "constant" and given.tensor.value is not None:
            return self._builder.constant(given.tensor.value, kind, name)
        variable = self._builder.variable(name, kind, fixed(shape))
        if not given.trained:
            self._builder.mark(variable, **{TRAINABLE: False})
            is_torch = self._graph.framework.startswith("torch")
            if is_torch and given.kind == "parameter" and kind.is_floating:
                self._builder.mark(variable, **{FROZEN: True})
        self._done.variables[given.name] = variable.ref.op
        return variable

    def _node(self, node: ForeignNode) -> None:
        before = self._builder.size
        with self._builder.scope(self._as_written(node)) as scope:
            try:
                made = self._lowered(node)
            except MemoryError:
                raise
            except Exception as error:  # whatever it is, all else of the file is still there
                why = _in_one_line(error)
                if self._depth:  # there is nothing to feed in its place
                    raise UnloweredError(f"in it, {why}") from None
                self._builder.detach(self._builder.made_since(before))
                for inner in subgraphs([*node.args.values()]):
                    self._forget(inner)
                made = self._unlowered(node, why)
        self._done.scopes[node.name] = scope
        self._keep(node.name, made, node.outputs)
        marks = {FOREIGN_OP: node.op, FOREIGN_SCOPE: scope, **_source(node.lines)}
        marks |= _name(node.written)
        for name in self._builder.made_since(before):
            if FOREIGN_SCOPE in self._builder.operation(name).attrs:
                continue  # it is of a node in a branch
            self._builder.mark(Tensor(self._builder, TensorRef(name)), **marks)

    def _as_written(self, node: ForeignNode) -> str:
        """Its name, with what its user calls the operation in place of the framework's inner name:
        "bn1/batch_norm" for "bn1/_native_batch_norm_legit_functional"."""
        table, inner = self._table(node), node.op.split(".")[1]
        scope, slash, own = node.name.rpartition("/")
        if table is None or not own.startswith(inner):
            return node.name
        return f"{scope}{slash}{table.written(inner)}{own[len(inner) :]}"

    def _table(self, node: ForeignNode) -> LoweringTable | None:
        return self._tables(node.op.partition(".")[0])

    def _functions(self, last: str) -> None:
        """Behind the last part of a custom function, where its own gradient can take over: what
        it gives, together with what it was given."""
        for key, function in self._graph.functions.items():
            if function.outputs and function.outputs[-1].node == last:
                nodes = [node for node in self._graph.nodes if node.backward == key]
                try:
                    source = gradient_source(key, function, nodes, self._rank)
                    self._own_gradient(key, function, source)
                except MemoryError:
                    raise
                except Exception as error:
                    self._done.unwritten[key] = _in_one_line(error)

    def _rank(self, ref: ForeignRef) -> int | None:
        """None where it is not there yet."""
        tensor = self._tensors.get(ref)
        return None if tensor is None else tensor.shape.rank

    def _own_gradient(self, key: str, function: CustomFunction, source: GradientSource) -> None:
        refs = (*function.outputs, *function.inputs, *source.captured)
        self._begin_all([self._waiting[r.node] for r in refs if r.node in self._waiting])
        if not all(ref in self._tensors for ref in refs):
            return
        tensors = [self._tensors[ref] for ref in refs]
        scope = self._done.scopes[function.outputs[-1].node].rpartition("/")[0]
        name = f"{scope or key}{OWN_GRADIENT}"
        made = self._builder.op("IdentityN", *tensors, name=name)
        self._done.gradients[key] = made[0].ref.op, source.text
        for ref, tensor in zip(function.outputs, made, strict=False):
            if (known := self._values.get(self._tensors[ref].ref)) is not None:
                self._values[tensor.ref] = known
            self._tensors[ref] = tensor

    def _lowered(self, node: ForeignNode) -> list[Tensor]:
        table = self._table(node)
        lowering = None if table is None else table.find(node.op)
        if lowering is None:
            raise UnloweredError(f"there is no lowering of {node.op}")
        args = {name: self._argument(value) for name, value in node.args.items()}
        about = self._types, self._inner, self._outline, self._counts, self._iterations
        site = Site(node, self._builder, self._values, *about)
        made = [self._own(tensor) for tensor in lower_as_computed(lowering, site, args)]
        for tensor, told in zip(made, node.outputs, strict=False):
            _check(tensor, told)
        return made

    def _inner(
        self, graph: ForeignSubgraph, args: Sequence[Tensor], number: Tensor | None
    ) -> list[Any]:
        """What the function of a branch or a loop gives, made where we are. Raises UnloweredError
        where one of its operations cannot be lowered. number: of a loop's iteration."""
        for name, tensor in zip(graph.inputs, args, strict=True):
            self._tensors[ForeignRef(name)] = tensor
        around = self._iterations
        self._iterations += () if number is None else (number,)
        self._depth += 1
        try:
            for node in graph.nodes:
                self._node(node)
        finally:
            self._depth -= 1
            self._iterations = around
        return [self._argument(result) for result in graph.results]

    def _counts(self, graph: ForeignSubgraph) -> bool:
        """Whether something in it draws, and each iteration is to draw what was drawn in it."""
        for node in with_inner(graph.nodes):
            table = self._table(node)
            lowering = None if table is None else table.find(node.op)
            known = any(told.iterations is not None for told in node.outputs)
            if lowering is not None and lowering.draws and known:
                return True
        return False

    def _outline(self, graph: ForeignSubgraph, args: Sequence[Tensor]) -> list[DType]:
        """Of what element types it gives is, which an array that collects it has to know before."""
        if self._builder.branch is not None:
            raise UnloweredError("rows of a type that is not told, in a branch or a loop")
        before = self._builder.size
        try:
            with self._builder.scope("outline"):
                return [tensor.dtype for tensor in self._inner(graph, args, None)]
        finally:
            self._builder.detach(self._builder.made_since(before))
            self._forget(graph)

    def _forget(self, graph: ForeignSubgraph) -> None:
        """What was made of a function of an operation that failed: it is not there any more."""
        for node in with_inner(graph.nodes):
            self._done.scopes.pop(node.name, None)
            for number, _ in enumerate(node.outputs):
                tensor = self._tensors.pop(ForeignRef(node.name, number), None)
                if tensor is not None:
                    self._values.pop(tensor.ref, None)

    def _own(self, tensor: Tensor) -> Tensor:
        """What a node gives is no other node's: it has a value and a gradient of its own."""
        scope = f"{self._builder.scope_name}/"
        if tensor.ref.op.startswith(scope):
            return tensor
        return self._builder.one("Identity", tensor)

    def _argument(self, value: Any) -> Any:
        if isinstance(value, ForeignRef):
            return self._tensors[value]
        if isinstance(value, list):
            return [self._argument(one) for one in value]
        return value

    def _unlowered(self, node: ForeignNode, why: str) -> list[Tensor]:
        """A placeholder for each output, which `_with_unknown` makes an unknown operation of."""
        self._done.unlowered[node.name] = why
        inputs = tuple(t.ref for t in _tensors_in([self._argument(v) for v in node.args.values()]))
        made = []
        for number, told in enumerate(node.outputs):
            shape = [size if isinstance(size, int) else None for size in told.shape]
            tensor = self._builder.placeholder(
                f"output_{number}" if number else "output",
                element_type(told.dtype or _UNTOLD),
                shape if told.has_rank else None,
            )
            attrs = {"_why": why, "_arguments": _in_words(node.args)}
            self._unknown[tensor.ref.op] = Operation(tensor.ref.op, node.op, inputs, attrs=attrs)
            if told.value is not None:
                self._done.fed[tensor.ref] = told.value.astype(tensor.dtype.numpy)
            made.append(tensor)
        return made

    def _with_unknown(self, graph: Graph) -> Graph:
        if not self._unknown:
            return graph
        made = dict(graph.operations)
        for name, op in self._unknown.items():
            made[name] = replace(op, attrs={**op.attrs, **_marks(made[name])})
        return Graph.ordered(made)

    def _update(self, target: str, value: ForeignRef) -> None:
        if target in self._done.variables and value in self._tensors:
            variable = self._builder.get(TensorRef(self._done.variables[target]))
            name = f"{self._done.variables[target]}/update"
            self._builder.one("Assign", variable, self._tensors[value], name=name)

    def _output(self, result: ForeignResult, tensor: Tensor) -> Tensor:
        """An Identity of the name that an output has, where no operation is called so; a scope may
        be. What is called so itself is the output."""
        own = result.name
        if tensor.ref == TensorRef(own):
            return tensor
        try:
            self._builder.names.check(own)
        except GradstepError:
            return self._builder.one("Identity", tensor, name=own)  # with a number
        return self._builder.one("Identity", tensor, name=f"{own}/")

    def _keep(self, name: str, made: Sequence[Tensor], told: Sequence[ForeignTensor]) -> None:
        for number, tensor in enumerate(made):
            self._tensors[ForeignRef(name, number)] = tensor
            if number < len(told):
                self._types[tensor.ref] = told[number].dtype
                if (value := told[number].value) is not None:
                    self._values[tensor.ref] = value


def _in_one_line(error: Exception) -> str:
    """What it says; with what it is, where nobody meant it to be read."""
    if isinstance(error, GradstepError):
        return str(error)
    if not isinstance(error, ValueError | TypeError | KeyError | IndexError):  # of odd arguments
        unforeseen("an operation could not be lowered", error)
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _check(tensor: Tensor, told: ForeignTensor) -> None:
    """What was built must be of the type that the framework says. Raises UnloweredError."""
    shape = tuple(size if isinstance(size, int) else None for size in told.shape)
    ours, kind = tensor.shape, element_type(told.dtype) if told.dtype else tensor.dtype
    fits = (
        ours.dims is None
        or not told.has_rank
        or (
            len(ours.dims) == len(shape)
            and all(a is None or b is None or a == b for a, b in zip(ours.dims, shape, strict=True))
        )
    )
    if tensor.dtype is not kind or not fits:
        raise UnloweredError(f"it would be {tensor.type}, and not {kind.value}{list(told.shape)}")


def _refs_in(value: Any) -> Iterator[ForeignRef]:
    if isinstance(value, ForeignRef):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _refs_in(one)


def _tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [t for one in value for t in _tensors_in(one)] if isinstance(value, list) else []


def _marks(op: Operation) -> dict[str, Any]:
    return {k: v for k, v in op.attrs.items() if k in _MARKS}


def _in_words(args: Mapping[str, Any]) -> str:
    """What is asked for besides tensors."""
    plain = {k: v for k, v in args.items() if isinstance(v, bool | int | float | str)}
    return ", ".join(f"{name}={value}" for name, value in plain.items())[:400]


def _name(written: str) -> dict[str, str]:
    return {FOREIGN_NAME: written} if written else {}


def _source(lines: Sequence[SourceLine]) -> dict[str, str]:
    """The user's own line: the innermost that is in no library; else the innermost."""
    own = [line for line in lines if not line.file.startswith(_LIBRARIES)]
    chosen = own[-1] if own else lines[-1] if lines else None
    return {} if chosen is None else {SOURCE_LINE: f"{chosen.file}:{chosen.line}"}
