"""TensorFlow programs in Gradstep: a graph that grows, variables, and a session that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.train.optimizers import Updates, apply_updates


@dataclass(frozen=True)
class Variable:
    """A variable, ref or resource. handle: what assignments take; read: the read made with it."""

    program: Program
    handle: Tensor
    read: Tensor

    @property
    def name(self) -> str:
        return self.handle.ref.op

    @property
    def resource(self) -> bool:
        return self.handle.dtype is DType.RESOURCE

    def value(self, name: str | None = None) -> Tensor:
        """What an expression with the variable takes: a fresh read of a resource variable."""
        return self._fresh(name) if self.resource else self.read

    def read_value(self, name: str | None = None) -> Tensor:
        """A read made now."""
        return self._fresh(name)

    def update(self, op_type: str, value: Any, *more: Any, name: str | None = None) -> Tensor:
        """Assign, AssignAdd, AssignSub, ScatterSub, …: the variable afterwards."""
        builder = self.program.builder
        dtype = self.program.dtypes[self.name]
        values = [
            builder.tensor(x, None if isinstance(x, np.ndarray) else dtype) for x in (value, *more)
        ]
        if not self.resource:
            return builder.one(op_type, self.handle, *values, name=name)
        full = _RESOURCE.get(op_type, f"Resource{op_type}")
        made = builder.unique(name or full)
        builder.op(full, self.handle, *values, name=made, **_dtype_of(full, dtype))
        with builder.control_dependencies([made]):
            return self._fresh(None)

    def _fresh(self, name: str | None) -> Tensor:
        builder = self.program.builder
        if not self.resource:
            return builder.one("Identity", self.handle, name=name or "read")
        dtype = self.program.dtypes[self.name]
        return builder.one("ReadVariableOp", self.handle, name=name, dtype=dtype)


_RESOURCE = {
    "Assign": "AssignVariableOp",
    "AssignAdd": "AssignAddVariableOp",
    "AssignSub": "AssignSubVariableOp",
}


def _dtype_of(op_type: str, dtype: DType) -> dict[str, DType]:
    return {"dtype": dtype} if op_type in _RESOURCE.values() else {}


class Program:
    """A graph under construction; inside `with`, `tf.zeros` and the like make their ops in it."""

    def __init__(
        self,
        graph: Graph | None = None,
        initial: Mapping[str, np.ndarray] | None = None,
        *,
        resource: bool = False,
    ) -> None:
        """graph: to begin with, and what its variables start with."""
        self.builder = GraphBuilder(graph)
        self.resource = resource
        self.initial: dict[str, np.ndarray] = dict(initial or {})
        self.dtypes: dict[str, DType] = {}
        self.functions: dict[str, Callable[..., Any]] = {}
        self._session: Session | None = None
        self._default: Any = None

    def __enter__(self) -> Program:
        self._default = self.builder.as_default()
        self._default.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._default.__exit__(*exception)

    # -- making ------------------------------------------------------------------------------

    def placeholder(self, name: str, dtype: Any = "float32", shape: Any = UNKNOWN) -> Tensor:
        return self.builder.placeholder(name, dtype, shape)

    def like(self, name: str, array: np.ndarray) -> Tensor:
        """A placeholder of the type and shape of `array`."""
        return self.builder.placeholder(name, str(array.dtype), array.shape)

    def variable(
        self, name: str, value: Any, resource: bool | None = None, read_gradient: str = ""
    ) -> Variable:
        """read_gradient: `_gradient_op_type` of a ref variable's own Identity."""
        array = np.asarray(value)
        kind, shape = DType.of(array.dtype), Shape(array.shape)
        self.initial[name] = array
        self.dtypes[name] = kind
        if self.resource if resource is None else resource:
            handle = self.builder.one("VarHandleOp", name=name, dtype=kind, shape=shape)
            read = self.builder.one(
                "ReadVariableOp", handle, name=f"{name}/Read/ReadVariableOp", dtype=kind
            )
        else:
            handle = self.builder.variable(name, kind, shape)
            attrs = {"_gradient_op_type": read_gradient} if read_gradient else {}
            read = self.builder.one("Identity", handle, name=f"{name}/read", **attrs)
        return Variable(self, handle, read)

    def py_func(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Tensor],
        outputs: Sequence[str] = ("float32",),
        name: str = "PyFunc",
        shapes: Sequence[Shape] = (),
        stateful: bool = True,
        **attrs: Any,
    ) -> list[Tensor]:
        token = f"pyfunc_{len(self.functions)}"
        self.functions[token] = function
        return list(
            self.builder.op(
                "PyFunc" if stateful else "PyFuncStateless",
                *inputs,
                name=name,
                token=token,
                Tin=tuple(x.dtype for x in inputs),
                Tout=tuple(DType(kind) for kind in outputs),
                shapes=tuple(shapes),
                **attrs,
            )
        )

    # -- training ----------------------------------------------------------------------------

    def minimize(
        self, optimizer: str, loss: Tensor, variables: Sequence[Variable], **hyper: float
    ) -> Updates:
        """What `Optimizer(…).minimize(loss, var_list=variables)` adds."""
        found = gradients(loss, [v.handle for v in variables])
        return self.apply(optimizer, list(zip(variables, found, strict=True)), **hyper)

    def apply(
        self, optimizer: str, pairs: Sequence[tuple[Variable, Any]], **hyper: float
    ) -> Updates:
        """`apply_gradients`: a variable without a gradient is left out."""
        named = [(v.handle.ref.op, g) for v, g in pairs if g is not None]
        updates = apply_updates(self.builder, optimizer, hyper, named)
        self.initial.update(updates.initial)
        return updates

    # -- running -----------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The session; where the graph grew, one on the new graph with the same values."""
        if self._session is None or len(self._session.graph) != len(self.builder.build()):
            kept = {} if self._session is None else dict(self._session.store)
            graph = self.builder.build()
            start = {**self.builder.variables.initial, **self.initial}
            fresh = {k: v for k, v in start.items() if k not in kept}
            self._session = Session(graph, functions=self.functions, initial=fresh)
            for name, value in kept.items():
                self._session.store.set(name, value)
        return self._session

    def restart(self) -> None:
        """Forget the session: variables start again."""
        self._session = None

    def run(
        self, fetches: Any, feeds: Mapping[Any, Any] | None = None, targets: Sequence[str] = ()
    ) -> Any:
        """Values of tensors in the nesting they are given in; None and numbers stay."""
        flat: list[TensorRef] = []
        _collect(fetches, flat)
        keyed = {_key(k): v for k, v in (feeds or {}).items()}
        values = dict(zip(flat, self.session.run(flat, keyed, targets), strict=True))
        return _fill(fetches, values)

    def value(self, variable: Variable) -> Any:
        """A variable's value in the session."""
        return self.session.store[variable.name]

    def operations(self) -> list[Operation]:
        return list(self.builder.build())


def _key(feed: Any) -> Any:
    return feed.ref if isinstance(feed, Tensor) else feed


def _parts(fetch: Any) -> dict[str, Any] | None:
    """The named parts of a nested fetch."""
    if isinstance(fetch, IndexedSlices):
        names = ("values", "indices", "dense_shape")
        return {name: getattr(fetch, name) for name in names}
    if isinstance(fetch, Mapping):
        return dict(fetch)
    return None


def _collect(fetch: Any, into: list[TensorRef]) -> None:
    parts = _parts(fetch)
    if isinstance(fetch, Tensor):
        into.append(fetch.ref)
    elif isinstance(fetch, Variable):
        into.append(fetch.read.ref)
    elif parts is not None:
        _collect(list(parts.values()), into)
    elif isinstance(fetch, list | tuple):
        for part in fetch:
            _collect(part, into)


def _fill(fetch: Any, values: Mapping[TensorRef, np.ndarray]) -> Any:
    parts = _parts(fetch)
    if isinstance(fetch, Tensor):
        return values[fetch.ref]
    if isinstance(fetch, Variable):
        return values[fetch.read.ref]
    if isinstance(fetch, IndexedSlices):
        assert parts is not None
        return {"indexed_slices": {k: _fill(v, values) for k, v in parts.items()}}
    if parts is not None:
        return {k: _fill(v, values) for k, v in parts.items()}
    if isinstance(fetch, list | tuple):
        return [_fill(part, values) for part in fetch]
    return fetch
