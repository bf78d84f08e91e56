"""Resource handles: which inputs take the handle of what, checked by type and again in a run.

An op type says it once, in its inputs (`handle:queue`). The types of most wires tell, and then the
type rule is not asked; a handle that was on a stack, or went through a user's function, is known
only when it comes, and then the kernel is not called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.state.dataset_iterator import Iterator
from gradstep.core.ops.state.lookup_table import LookupTable
from gradstep.core.ops.state.loop_trace import Trace
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.ops.state.queue import Queue

if TYPE_CHECKING:
    from gradstep.core.ops.declare.input_spec import InputSpec

# What an input may take the handle of -> what then reaches the kernel. None: arrays, as text that
# RunArrays looks up and what variables hold, or nothing that is looked at.
HANDLES = MappingProxyType[str, type[OpaqueState] | None](
    {
        "queue": Queue,
        "table": LookupTable,
        "trace": Trace,
        "iterator": Iterator,
        "stack": None,
        "tensor_array": None,
        "variable": None,
    }
)


def describe_handle(handle: str) -> str:
    """What a handle is of, in words: "a queue"."""
    words = "loop's trace" if handle == "trace" else handle.replace("_", " ")
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def element_type(handle: str) -> DType:
    """Of the tensor that such a handle is."""
    return DType.VARIANT if handle == "trace" else DType.RESOURCE


def misfit(wanted: str, given: TensorType, op_type: str, name: str) -> GradstepError | None:
    """Why a tensor of type `given` cannot be the handle that input `name` wants; None where it can.
    A variable's own tensor is as good as its handle."""
    if given.handle:
        return (
            None
            if given.handle == wanted
            else wrong(wanted, f"that of {describe_handle(given.handle)}")
        )
    if wanted == "variable" or given.dtype is element_type(wanted):
        return None
    return GradstepError(
        f"Input '{name}' of '{op_type}' Op has type {given.dtype.value} that does not match "
        f"expected type of {element_type(wanted).value}.",
        kind="ValueError",
        hint=_wire(wanted),
    )


def wrong(wanted: str, found: str) -> GradstepError:
    """That a handle is something else: `found`."""
    return GradstepError(
        "Trying to access a resource using the wrong type: expected the handle of "
        f"{describe_handle(wanted)}, got {found}",
        hint=_wire(wanted),
    )


def _wire(wanted: str) -> str:
    return f"wire the handle of {describe_handle(wanted)} to it"


def check_handles(kernel: Callable[..., Any], inputs: Sequence[InputSpec]) -> Callable[..., Any]:
    """`kernel`, called only with what its handles are to lead to. Raises GradstepError."""
    wanted = {i: spec.handle for i, spec in enumerate(inputs) if spec.handle}
    if not wanted:
        return kernel

    @wraps(kernel)
    def asked(xp: Any, *given: Any, **keywords: Any) -> Any:
        for index, handle in wanted.items():
            if not _leads_to(given[index], HANDLES[handle]):
                raise wrong(handle, _said(given[index]))
        return kernel(xp, *given, **keywords)

    return asked


def _leads_to(value: Any, wanted: type[OpaqueState] | None) -> bool:
    return not isinstance(value, OpaqueState) if wanted is None else isinstance(value, wanted)


def handle_of(state: OpaqueState) -> str:
    """What `state` is, in words: "a queue"."""
    found = (describe_handle(h) for h, kind in HANDLES.items() if kind and isinstance(state, kind))
    return next(found, "something else")


def _said(value: Any) -> str:
    return f"that of {handle_of(value)}" if isinstance(value, OpaqueState) else "what is no handle"
