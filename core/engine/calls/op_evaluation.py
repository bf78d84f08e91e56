"""One operation's kernel on a backend: bound to its attributes, run, its failures located."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.bfloat16_beside import kernel_beside
from gradstep.core.engine.calls.bfloat16_kernels import rounding_kernel
from gradstep.core.engine.device_transfer import kept
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.dtypes import DType, Shape, TensorType, array_bytes
from gradstep.core.graph.model import Operation
from gradstep.core.memory_release import memo_of_document
from gradstep.core.ops.declare.definition import InferContext
from gradstep.core.ops.declare.host_arrays import holds_bfloat16, home
from gradstep.core.ops.declare.resource_handles import handle_of
from gradstep.core.ops.declare.table import OpDef, lookup
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.ops.typing.input_description import with_inputs

Functions = Mapping[str, Callable[..., Any]]
NO_FUNCTIONS: Functions = {}


def run_op(
    backend: Backend, op: Operation, inputs: Sequence[Any], functions: Functions = NO_FUNCTIONS
) -> tuple[Any, ...]:
    """The results of `op` on device arrays. Raises GradstepError located at `op`."""
    return run_kernel(backend, op, bind(backend, op, functions), inputs)


def run_kernel(
    backend: Backend, op: Operation, kernel: Callable[..., Any], inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """The results of `op` by the kernel that `bind` gave. Raises GradstepError located at `op`."""
    try:
        with np.errstate(all="ignore"):
            results = as_tuple(kernel(*inputs))
            return tuple(kept(x, home(backend.xp, x).asarray) for x in results)
    except Exception as error:
        raise locate_error(error, op, backend, inputs) from error


def bind(
    backend: Backend, op: Operation, functions: Functions = NO_FUNCTIONS, short: bool = True
) -> Callable[..., Any]:
    """`op`'s kernel as a function of its input arrays alone. short: whether there may be bfloat16
    among these and the results."""
    definition = lookup(op.type, op.name)
    if definition.kernel.plain is None:
        raise GradstepError(
            f"{op.type} has nothing to execute", kind="UnimplementedError", node=op.name
        )
    make = partial(_adapted, definition, backend, functions)
    if not short:
        return make(op)
    if holds_bfloat16(backend.xp):
        return rounding_kernel(definition, op, make)
    on_host = bind(NumpyBackend(backend.rules, backend.name), op, functions)
    return kernel_beside(backend, op, make(op), on_host)


def _adapted(
    definition: OpDef, backend: Backend, functions: Functions, op: Operation
) -> Callable[..., Any]:
    assert definition.kernel.plain is not None
    kernel = _with_keywords(definition.kernel.plain, definition, backend, op, functions)
    return backend.adapt(definition, kernel, op)


def bind_out(
    backend: Backend, op: Operation, functions: Functions = NO_FUNCTIONS
) -> Callable[..., Any] | None:
    """`op`'s kernel as a function of its input arrays and `out`, if it has such a form and the
    backend takes it as it is."""
    definition = lookup(op.type, op.name)
    out_kernel = definition.kernel.out
    if definition.kernel.fused and hasattr(backend.xp, "fused"):
        assert definition.kernel.plain is not None
        return _with_keywords(definition.kernel.plain, definition, backend, op, functions)
    if definition.kernel.only_numpy and backend.xp is not np:
        return None
    if out_kernel is None or not takes_out(backend, op):
        return None
    if definition.kernel.ufunc is not None:
        ufunc: Callable[..., Any] = getattr(backend.xp, definition.kernel.ufunc)
        return ufunc
    return _with_keywords(out_kernel, definition, backend, op, functions)


def takes_out(backend: Backend, op: Operation) -> bool:
    """Whether `op` has a kernel that is given `out`, and the backend takes it as it is."""
    definition = lookup(op.type, op.name)
    kernel = definition.kernel.out
    return kernel is not None and backend.adapt(definition, kernel, op) is kernel


def as_tuple(result: Any) -> tuple[Any, ...]:
    """A kernel's result as the tuple of its outputs."""
    if isinstance(result, tuple):
        return result
    return tuple(result) if isinstance(result, list) else (result,)


def locate_error(
    error: Exception, op: Operation, backend: Backend, given: Sequence[Any] = ()
) -> GradstepError:
    """Any failure of a kernel as the error that users see. given: the arrays that it worked on."""
    if isinstance(error, GradstepError):
        return error.at(op.name)
    if isinstance(error, MemoryError):
        return GradstepError(
            f"there is not enough memory for {with_inputs(op, given)}",
            kind="ResourceExhaustedError",
            node=op.name,
            hint="use smaller tensors",
        )
    if backend.xp is not np and isinstance(error, RuntimeError):  # the driver's: a lost card
        return GradstepError(
            f"{backend.name} failed at {with_inputs(op, given)}: {' '.join(str(error).split())}",
            kind="InternalError",
            node=op.name,
            hint="restart the engine; if it comes again, look at the driver",
        )
    refused = _no_tensor(op, given) or refused_arrays(op, given)
    if refused is not None:
        return refused
    return unforeseen(f"{with_inputs(op, given)} could not be computed", error, op.name)


def _no_tensor(op: Operation, given: Sequence[Any]) -> GradstepError | None:
    """That a kernel which failed was given what a handle leads to for a tensor; None where it was
    given none. (Inputs that take handles are looked at before.)"""
    definition = lookup(op.type, op.name)
    handles = {spec.name for spec in definition.inputs if spec.handle}
    for name, ref, x in zip(definition.arity(len(op.inputs)), op.inputs, given, strict=False):
        if isinstance(x, OpaqueState) and name not in handles:
            return GradstepError(
                f"Trying to access a resource using the wrong type: '{ref}' is the handle of "
                f"{handle_of(x)}, and no tensor",
                node=op.name,
                hint="wire a tensor to it",
            )
    return None


def refused_arrays(op: Operation, given: Sequence[Any]) -> GradstepError | None:
    """What the op's own rule says of arrays that it does not take, which its kernel leaves it to
    the rule to look at; not all shapes are known before a run. None where the rule takes them."""
    definition = lookup(op.type, op.name)
    plain = all(isinstance(x, np.ndarray) and not x.dtype.hasobject for x in given)
    if definition.state.writes or not plain or len(given) != len(op.inputs):
        return None
    types = [TensorType(DType.of(x.dtype), Shape(x.shape)) for x in given]
    try:
        found = definition.infer(InferContext(definition, op, types, lambda index: given[index]))
    except GradstepError as error:
        return error.at(op.name).as_kind("ValueError", "InvalidArgumentError")
    except Exception:  # nothing that it would say better
        return None
    return _beyond_arrays(op, as_tuple(found))


def _beyond_arrays(op: Operation, made: Iterable[TensorType]) -> GradstepError | None:
    """That there are no arrays of as many dimensions, or as large, as the results would be."""
    for kind in made:
        if kind.shape.is_static:
            try:
                array_bytes(kind.shape.static(), kind.dtype.numpy.itemsize)
            except ValueError as error:
                return GradstepError(
                    str(error),
                    kind="ResourceExhaustedError",
                    node=op.name,
                    hint="use fewer dimensions, or smaller ones",
                )
    return None


def _with_keywords(
    kernel: Callable[..., Any],
    definition: OpDef,
    backend: Backend,
    op: Operation,
    functions: Functions,
) -> Callable[..., Any]:
    """`kernel` with its namespace and keyword-only parameters given: attributes by name, and the
    three things that the engine provides."""
    given = {"rules": backend.rules, "op": op, "functions": functions}
    bound = partial(kernel, backend.xp, **definition.keywords(op, given, _keyword_names(kernel)))
    on_host = host_inputs(definition, len(op.inputs))
    if backend.xp is np or not on_host:
        return bound
    return partial(_with_host_inputs, bound, backend, on_host)


@memo_of_document(None)
def host_inputs(definition: OpDef, count: int) -> frozenset[int]:
    """Which of `count` inputs the kernel reads on the host, as shapes and axes are, and the
    counter after them."""
    host = {spec.name for spec in definition.inputs if spec.host}
    names = definition.arity(count)
    found = {i for i, name in enumerate(names) if name.partition("[")[0] in host}
    return frozenset(found | {count} if definition.state.counter else found)


def _with_host_inputs(
    kernel: Callable[..., Any],
    backend: Backend,
    on_host: frozenset[int],
    *inputs: Any,
    **out: Any,
) -> Any:
    moved = [
        backend.get(x) if i in on_host and not isinstance(x, np.ndarray) else x
        for i, x in enumerate(inputs)
    ]
    return kernel(*moved, **out)


@memo_of_document(None)
def _keyword_names(kernel: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(kernel).parameters.values()
    return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
