"""Ops whose forward is a function of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any, NoReturn

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE, Gradient
from gradstep.core.ops.declare.op_state import Stateful
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.typing.dependent_attributes import as_long_as

Functions = Mapping[str, Callable[..., Any]]

# Which of TensorFlow's errors an exception in the function becomes; any other is UnknownError.
_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (NotImplementedError, "UnimplementedError"),
    (TypeError, "InvalidArgumentError"),
    (ValueError, "InvalidArgumentError"),
    (StopIteration, "OutOfRangeError"),
    (MemoryError, "ResourceExhaustedError"),
)


def _declared(ctx: InferContext) -> tuple[TensorType, ...]:
    shapes = ctx.attr("shapes")
    types = [DType(kind) for kind in ctx.attr("Tout")]
    if shapes and len(shapes) != len(types):
        raise ctx.fail(f"{len(shapes)} shapes are declared for {len(types)} outputs")
    if not shapes:
        return tuple(TensorType(kind) for kind in types)
    return tuple(TensorType(k, s) for k, s in zip(types, shapes, strict=True))


def _run(xp: Any, *inputs: Any, op: Operation, functions: Functions) -> Any:
    token = str(attribute(op, "token", str))
    results = _results(_called(token, functions, [_on_host(x) for x in inputs]))
    wanted = tuple(DType(kind) for kind in attribute(op, "Tout", tuple))
    if len(results) != len(wanted):
        raise GradstepError(
            f"{token} returns {len(results)} values, but expects to see {len(wanted)} values.",
            hint=f"return {len(wanted)} arrays, or change the op's list of output types",
        )
    given = {DType.of(x.dtype) for x in inputs}
    pairs = enumerate(zip(results, wanted, strict=True))
    return tuple(xp.asarray(_typed(token, index, pair, given)) for index, pair in pairs)


def _on_host(x: Any) -> np.ndarray:
    """A NumPy copy, so that the function cannot change the graph's value."""
    return np.array(x.get() if hasattr(x, "get") else x)


def _called(token: str, functions: Functions, arguments: list[np.ndarray]) -> Any:
    try:
        function = functions[token]
    except KeyError:
        raise GradstepError(
            f"callback {token} is not found",
            kind="LookupError",
            hint=f"write a Python function '{token}': Edit Python…, or --code FILE.py",
        ) from None
    try:
        return function(*arguments)
    except GradstepError:
        raise
    except Exception as error:
        kind = next((k for types, k in _KINDS if isinstance(error, types)), "UnknownError")
        raise GradstepError(
            f"{type(error).__name__}: {error}",
            kind=kind,
            hint=f"raised inside the Python function '{token}'",
        ) from error


def _results(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(result) if isinstance(result, list | tuple) else [result]


def _typed(token: str, index: int, pair: tuple[Any, DType], given: Set[DType]) -> np.ndarray:
    """The value as an array of the declared type. A Python number fits any; an array must match.
    given: the types of what came in."""
    value, wanted = pair
    if not isinstance(value, np.ndarray | np.generic):
        return np.asarray(value, dtype=wanted.numpy)
    found = DType.of(value.dtype)
    if found is not wanted:
        raise GradstepError(
            f"{index}-th value returned by {token} is {found.cpp_name}, "
            f"but expects {wanted.cpp_name}",
            hint=_as_wide(wanted) if wanted in given else f"return value.astype(np.{wanted.value})",
        )
    return np.asarray(value)


def _as_wide(wanted: DType) -> str:
    """A function that says float32 itself cannot be checked: differences are made in float64."""
    return (
        f"return {wanted.value} where that comes in: value.astype(x.dtype), x being an input "
        "(finite differences are made in float64)"
    )


def _taped(op: OpView, *grads: Tensor) -> NoReturn:
    raise GradstepError(
        f"No gradient defined for operation '{op.name}' (op type: EagerPyFunc): TensorFlow "
        "records it on a tape while the function runs eagerly",
        kind="LookupError",
        node=op.name,
        hint="override its gradient with a function of your own",
    )


_ATTRS = {"token": str, "Tout": tuple, "shapes": ()}
_FOLLOW = as_long_as("Tout", "shapes")
_TYPES = {"Tin": "types(input)"}
_NUMBERS = (
    "a Python number that it returns takes the declared type; TensorFlow takes the one that NumPy "
    "gives it"
)

for _type, _stateful, _doc in (
    ("PyFunc", True, "A Python function of NumPy arrays, run on the host."),
    ("PyFuncStateless", False, "A Python function of NumPy arrays without side effects."),
):
    op(
        _type,
        inputs="#input*",
        outputs="output*",
        attrs=_ATTRS,
        follow=_FOLLOW,
        type_attrs=_TYPES,
        infer=_declared,
        kernel=_run,
        state=Stateful() if _stateful else None,
        gradient=NOT_DIFFERENTIABLE,
        arithmetic="exact",  # it runs on the host, whatever the device
        doc=_doc,
        differs=_NUMBERS,
    )

op(
    "EagerPyFunc",
    inputs="#input*",
    outputs="output*",
    attrs={**_ATTRS, "is_async": False},
    follow=_FOLLOW,
    type_attrs=_TYPES,
    infer=_declared,
    kernel=_run,
    gradient=Gradient(_taped, differentiable=False),
    state=Stateful(),
    arithmetic="exact",
    doc="What `tf.py_function` makes: here, a Python function of NumPy arrays.",
    differs="the function gets NumPy arrays, not eager tensors, so its gradient must be given",
)
