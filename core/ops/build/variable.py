"""A variable as graph-building Python sees it: its read is a tensor, its handle is assigned to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call

if TYPE_CHECKING:
    from gradstep.core.ops.build.builder import GraphBuilder

VARIABLES = frozenset({"VariableV2", "VarHandleOp"})  # op types that declare one
READS = frozenset({"Identity", "ReadVariableOp"})  # of a variable: they only read it
# Attribute of a variable that no optimizer trains unless it is told to; TensorFlow keeps that in a
# collection of its Python, which a graph's file does not have.
TRAINABLE = "_trainable"


class Variable(Tensor):
    """As a tensor it is what reads of the variable see: `v/read`, made with it. handle: the
    variable itself, for assignments and for what gradients are taken with respect to."""

    __slots__ = ("handle",)
    __hash__ = object.__hash__

    def __init__(self, handle: Tensor, read: Tensor) -> None:
        super().__init__(read.builder, read.ref)
        self.handle = handle

    @property
    def name(self) -> str:
        return self.handle.name

    @property
    def trainable(self) -> bool:
        return is_trainable(self.handle.op.operation)

    @property
    def initial_value(self) -> Any:
        """What it starts with, a NumPy array; None if this graph was not told."""
        return self.builder.variables.initial.get(self.handle.ref.op)

    def read_value(self) -> Tensor:
        """A read made now, which waits for what control dependencies say."""
        return call("Identity", self.handle, name="read")

    def assign(self, value: TensorLike, name: str | None = None) -> Tensor:
        return self._update("Assign", value, name)

    def assign_add(self, delta: TensorLike, name: str | None = None) -> Tensor:
        return self._update("AssignAdd", delta, name)

    def assign_sub(self, delta: TensorLike, name: str | None = None) -> Tensor:
        return self._update("AssignSub", delta, name)

    def _update(self, op_type: str, value: TensorLike, name: str | None) -> Tensor:
        return call(op_type, self.handle, self.builder.tensor(value, self.dtype), name=name)


def is_trainable(operation: Operation) -> bool:
    """Whether the operation declares a variable that is trained unless something else is asked."""
    return operation.type in VARIABLES and operation.attrs.get(TRAINABLE, True) is not False


def variable_read_by(graph: Graph, name: str) -> str:
    """The variable that the operation `name` only reads, as `c/read` does; "" for any other."""
    op = graph.operations.get(name)
    source = op.inputs[0] if op is not None and op.type in READS and op.inputs else None
    there = source is not None and source.op in graph
    return source.op if source and there and graph[source.op].type in VARIABLES else ""


def declare_variable(
    builder: GraphBuilder, name: str, dtype: DType, shape: Shape, trainable: bool
) -> Variable:
    """Add a ref variable of exactly that name, and its read. Neither waits for anything, whatever
    control dependencies it is made under, as in TensorFlow. Raises GradstepError for a name that is
    taken."""
    attrs = {"dtype": dtype, "shape": shape} | ({} if trainable else {TRAINABLE: False})
    (handle,) = builder.add(Operation(name, "VariableV2", attrs=attrs))
    return Variable(handle, _read(builder, name))


def found_variable(builder: GraphBuilder, name: str) -> Variable | None:
    """The ref variable of that name, if there is one."""
    if not builder.has(name) or builder.operation(name).type != "VariableV2":
        return None
    read = f"{name}/read"
    there = builder.has(read) and builder.operation(read).inputs == (TensorRef(name),)
    return Variable(
        builder.get(TensorRef(name)),
        builder.get(TensorRef(read)) if there else _read(builder, name),
    )


def _read(builder: GraphBuilder, name: str) -> Tensor:
    (read,) = builder.add(Operation(f"{name}/read", "Identity", (TensorRef(name),)))
    return read
