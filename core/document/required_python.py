"""The Python that a graph asks for by name: what for, and how it is called.

A GraphDef has the names of Python functions and of gradients, never the functions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideTable
from gradstep.core.autodiff.reverse.gradient_rules import is_registered
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.document.function_lookup import argument_names, identifier
from gradstep.core.graph.carry_over import edit_before
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import PYTHON_OPS, Graph, Operation, TensorRef
from gradstep.core.ops.build.variable import variable_read_by
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types, flatten_loops
from gradstep.core.ops.typing.inference import has_loops, infer_declared
from gradstep.core.ops.typing.tensor_type_dict import outputs_of

_Types = Sequence[TensorType | None]
_Askers = Mapping[tuple[str, CodeKind], Sequence[Operation]]

_ASKERS = "askers"  # kept with the graph


@dataclass(frozen=True, slots=True)
class Asked:
    """A Python function that operations ask for. nodes: these, of which `op` is the first.

    sources: what its inputs come from; inputs, outputs: their types, None where not known.
    """

    name: str
    kind: CodeKind
    nodes: tuple[str, ...]
    op: Operation
    sources: Sequence[str]
    inputs: _Types
    outputs: _Types

    @property
    def arguments(self) -> list[str]:
        """Names for what the function is called with."""
        if self.kind is CodeKind.PYFUNC:
            return argument_names(self.sources)
        if self.kind is CodeKind.GRADIENT:
            return ["op", *self.gradients]
        return [*self.gradients, *self.values]

    @property
    def values(self) -> list[str]:
        """Names for what the operation is given, beside the gradients of what it gives."""
        return argument_names(self.sources, {"op", "tf", "np", *self.gradients})

    @property
    def gradients(self) -> list[str]:
        """Names for the gradients that come in, one of each output."""
        one = len(self.outputs) == 1
        return ["grad"] if one else [f"grad_{i}" for i in range(len(self.outputs))]

    @property
    def head(self) -> str:
        """`def pyfunc_0(c, k, d):`"""
        return f"def {identifier(self.name)}({', '.join(self.arguments)}):"

    @property
    def stub(self) -> str:
        """A function to fill in: it says what comes and what to return, and fails until then."""
        lines = _BODY[self.kind](self)
        end = f"raise NotImplementedError({f'{_plain(self.name)} is not written yet'!r})"
        return "".join([f"{self.head}\n", *(f"    {line}\n" for line in (*lines, end))])

    @property
    def item(self) -> CodeItem:
        """The stub as a function of the document."""
        return CodeItem(self.name, self.kind, self.stub)


def find_requested_functions(document: Document) -> list[Asked]:
    """Every function that the document's graph or overrides ask for and the program does not
    come with: Python functions by their token, gradients by their name."""
    return [_with_types(document, *asked, ops) for asked, ops in _askers(document).items()]


def missing_code(document: Document, at: Collection[str] = ()) -> list[Asked]:
    """Those that the document does not have either; only what the operations `at` ask for."""
    asked = [
        a for a in find_requested_functions(document) if not _is_there(a, document.code.get(a.name))
    ]
    return [a for a in asked if not at or not {*at}.isdisjoint(a.nodes)]


def _is_there(asked: Asked, item: CodeItem | None) -> bool:
    return item is not None and item.kind in (asked.kind, CodeKind.NUMPY_GRADIENT)


def _askers(document: Document) -> _Askers:
    """What is asked for, and by which operations; found once for a graph and its overrides, as it
    is asked after every step."""
    graph = flatten_loops(document.graph)
    overrides = tuple(
        one
        for one in document.request.overrides
        if one.enabled and not is_registered(one.gradient, ())
    )
    known: tuple[tuple[Override, ...], _Askers] | None = graph.__dict__.get(_ASKERS)
    if known is None or known[0] != overrides:
        table, askers = OverrideTable(overrides), defaultdict(list)
        for op in _may_ask(graph, overrides, table):
            for asked in _asked_by(op, table):
                askers[asked].append(op)
        known = graph.__dict__[_ASKERS] = (overrides, askers)
    return known[1]


def _may_ask(
    graph: Graph, overrides: tuple[Override, ...], table: OverrideTable
) -> Iterable[Operation]:
    """Where no operation asked for anything before an edit, only those that the edit changed do."""
    before, changes = edit_before(graph) or (None, Changes())
    if before is None or before.__dict__.get(_ASKERS) != (overrides, {}) or has_loops(graph):
        return graph
    there, changed = graph.operations, changes.added | changes.changed
    asking = {name for name in changed if any(_asked_by(there[name], table))}
    names = filter(asking.__contains__, there if asking else ())  # in their order
    return [*map(there.__getitem__, names)]


def _asked_by(op: Operation, overrides: OverrideTable) -> Iterator[tuple[str, CodeKind]]:
    if op.type in PYTHON_OPS:
        yield str(op.attrs.get("token", "")), CodeKind.PYFUNC
    for name in dict.fromkeys((*overrides.list_matching(op), op.gradient_op_type)):
        if name and not is_registered(name, ()):
            yield name, CodeKind.GRADIENT


def _with_types(document: Document, name: str, kind: CodeKind, ops: Sequence[Operation]) -> Asked:
    graph, op = document.graph, ops[0]
    types = flatten_loop_types(graph, infer_declared(graph)).types
    outputs = outputs_of(flatten_loops(graph), types, op.name) or [op.output()]
    return Asked(
        name,
        kind,
        tuple(op.name for op in ops),
        op,
        [_source(graph, ref) for ref in op.inputs],
        [None if ref is None else types.get(ref) for ref in op.inputs],
        [types.get(ref) for ref in outputs],
    )


def _source(graph: Graph, ref: TensorRef | None) -> str:
    """`c`, whether it is read by itself or as `c/read`."""
    return "" if ref is None else variable_read_by(graph, ref.op) or ref.op


def _pyfunc(asked: Asked) -> Iterator[str]:
    yield f"# computes {_of(asked)}, from NumPy arrays:"
    yield from _described(asked.arguments, asked.inputs)
    outputs = ", ".join(map(_type, asked.outputs))
    yield f"# and returns {'a tuple of ' * (len(asked.outputs) > 1)}{outputs}"


def _gradient(asked: Asked) -> Iterator[str]:
    yield f"# makes the gradient of {_of(asked)}, with the operations of tf, from"
    yield from _described(asked.gradients, asked.outputs)
    yield from _one_each(asked)
    names = asked.values
    if names:
        yield f"{', '.join(names)}{',' * (len(names) == 1)} = op.inputs"


def _numpy_gradient(asked: Asked) -> Iterator[str]:
    yield f"# computes the gradient of {_of(asked)}, from NumPy arrays:"
    yield from _described(asked.gradients, asked.outputs)
    yield from _one_each(asked)


def _one_each(asked: Asked) -> Iterator[str]:
    yield f"# and returns one for each input, None where there is none: {', '.join(asked.values)}"
    yield from _described(asked.values, asked.inputs)


def _of(asked: Asked) -> str:
    more = f" and {len(asked.nodes) - 1} more" if len(asked.nodes) > 1 else ""
    return f"{_plain(asked.op.name)} ({_plain(asked.op.type)}){more}"


def _plain(name: str) -> str:
    """A name from a file, as it can stand in a comment: it must not end the line there."""
    return name if name.isprintable() else repr(name)


def _described(names: Sequence[str], types: _Types) -> Iterator[str]:
    """A comment for each: its name and type."""
    width = max(map(len, names), default=0)
    for name, kind in zip(names, types, strict=True):
        yield f"#   {name:{width}}  {_type(kind)}"


def _type(kind: TensorType | None) -> str:
    if kind is None:
        return "of a type that is not known"
    shape = "of any shape" if kind.shape.dims is None else kind.shape
    return f"{kind.dtype.value} {shape}"


_BODY: Mapping[CodeKind, Callable[[Asked], Iterator[str]]] = {
    CodeKind.PYFUNC: _pyfunc,
    CodeKind.GRADIENT: _gradient,
    CodeKind.NUMPY_GRADIENT: _numpy_gradient,
}
