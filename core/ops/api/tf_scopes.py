"""Functions of `tf` that name and share: scopes, variables, collections, control dependencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.collections import GraphKeys, collect, members_of
from gradstep.core.ops.build.initializers import initializer_of
from gradstep.core.ops.build.python_values import as_array, as_shape, as_written
from gradstep.core.ops.build.tensor import OpView, Tensor, TensorLike, builder_of
from gradstep.core.ops.build.variable import Variable, declare_variable, found_variable
from gradstep.core.ops.build.variable_scopes import (
    AUTO_REUSE,
    Reuse,
    VariableScope,
    already_there,
    not_the_same,
    not_there,
    shape_missing,
)

_Function = TypeVar("_Function", bound=Callable[..., Any])
Scope = str | VariableScope | None


def name_scope(
    name: str | None, default_name: str | None = None, values: Sequence[TensorLike] = ()
) -> AbstractContextManager[str]:
    """Operations made inside are called `name/…`, numbered if it is taken; a name that ends in "/"
    opens that very scope again. Variables of get_variable are not."""
    return builder_of(values).scope(name or default_name or "/")


@contextmanager
def variable_scope(
    name_or_scope: Scope = None,
    default_name: str | None = None,
    values: Sequence[TensorLike] = (),
    initializer: Any = None,
    reuse: Reuse = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """Variables of get_variable made inside are called `name/…`, the same names each time it is
    opened; operations too, but numbered. reuse: True takes variables that are there, AUTO_REUSE
    takes or makes them; None is as the scope around it says."""
    builder = builder_of(values)
    variables = builder.variables
    scope, name = _entered(builder, name_or_scope, default_name)
    scope = VariableScope(
        scope.name, reuse or scope.reuse, scope.initializer if initializer is None else initializer
    )
    names = builder.scope(name) if auxiliary_name_scope and name else nullcontext()
    with names, variables.within(scope, again=isinstance(name_or_scope, VariableScope)):
        yield scope


def _entered(builder: GraphBuilder, given: Scope, default: str | None) -> tuple[VariableScope, str]:
    """The scope that is meant, and what its operations' scope is called."""
    if isinstance(given, VariableScope):
        return given, given.name.rpartition("/")[2]
    if given is None and default is None:
        raise ValueError("If default_name is None then name_or_scope is required")
    outer = builder.variables.scope
    name = given if given is not None else builder.variables.unique(default or "")
    scope = VariableScope(outer.inside(name), outer.reuse, outer.initializer)
    return scope, name if given is not None else default or ""


def get_variable_scope() -> VariableScope:
    return builder_of(()).variables.scope


def get_variable(
    name: str,
    shape: Any = None,
    dtype: DType | str | None = None,
    initializer: Any = None,
    trainable: bool = True,
) -> Variable:
    """The variable `name` of the open variable scope: made, or shared where the scope reuses.
    initializer: its name, itself, or the value; by default the scope's, or Glorot's uniform."""
    builder = builder_of(())
    scope = builder.variables.scope
    full = scope.inside(name)
    found = found_variable(builder, full)
    if found is None and scope.reuse is True:
        raise not_there(full)
    if found is None:
        start = initializer if initializer is not None else scope.initializer
        return _made(builder, full, shape, dtype, start, trainable)
    if not scope.reuse:
        raise already_there(full)
    return _shared(found, full, shape, dtype)


def _shared(found: Variable, name: str, shape: Any, dtype: DType | str | None) -> Variable:
    have = found.handle.shape
    if shape is not None and not _compatible(as_shape(shape), have):
        raise not_the_same(name, "shape", as_written(as_shape(shape)), as_written(have))
    if dtype is not None and DType(dtype) is not found.dtype:
        kind = DType(dtype).value
        raise not_the_same(name, "dtype", kind, f"{found.dtype.value}_ref")
    return found


def _compatible(shape: Shape, other: Shape) -> bool:
    return shape.dims is None or not other.is_static or shape.accepts(other.static())


def _made(
    builder: GraphBuilder, name: str, shape: Any, dtype: Any, initializer: Any, trainable: bool
) -> Variable:
    if _is_value(initializer):
        value = as_array(initializer, dtype)
        return _declared(builder, name, value, trainable)
    if shape is None:
        raise shape_missing(name)
    sizes = as_shape(shape)
    if not sizes.is_static:
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was {sizes}."
        )
    kind = DType(dtype or "float32")
    otherwise = None if kind.is_floating else initializer_of("zeros")
    start = initializer_of(initializer, otherwise)
    value = np.asarray(start(sizes.static(), kind.numpy, name), kind.numpy)
    return _declared(builder, name, value, trainable)


def _is_value(initializer: Any) -> bool:
    return not (initializer is None or isinstance(initializer, str) or callable(initializer))


def _declared(builder: GraphBuilder, name: str, value: np.ndarray, trainable: bool) -> Variable:
    made = declare_variable(builder, name, DType.of(value.dtype), Shape(value.shape), trainable)
    builder.variables.initial[name] = value
    return made


def variable(
    initial_value: Any = None,
    trainable: bool = True,
    name: str | None = None,
    dtype: DType | str | None = None,
) -> Variable:
    """A variable of its own, in the open name scope and numbered if its name is taken; what it
    starts with must be known, a number or an array."""
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    if isinstance(initial_value, Tensor):
        raise GradstepError(
            "a variable starts with numbers, not with a tensor",
            kind="ValueError",
            hint="assign the tensor to it in the graph: variable.assign(tensor)",
        )
    builder = builder_of(())
    value = as_array(initial_value, dtype)
    return _declared(builder, builder.unique(name or "Variable"), value, trainable)


def get_collection(key: str, scope: str | None = None) -> list[Tensor]:
    """What was put into the collection `key`, of names that begin as the pattern `scope` says."""
    return members_of(builder_of(()), key, scope)


def add_to_collection(name: str, value: Tensor) -> None:
    """Put a tensor's operation into a collection."""
    collect(value, name)


def global_variables(scope: str | None = None) -> list[Tensor]:
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Tensor]:
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def control_dependencies(
    control_inputs: Sequence[Tensor | OpView | str] | None,
) -> AbstractContextManager[None]:
    """Operations made inside run after these; None: after none, whatever is around."""
    names = None if control_inputs is None else [_operation(x) for x in control_inputs]
    return builder_of(()).control_dependencies(names)


def register_gradient(op_type: str) -> Callable[[_Function], _Function]:
    """`@tf.RegisterGradient("Name")` as TensorFlow's programs have it: it says what a function of
    the document is for, and is read there (gradstep.core.document.function_lookup); here it changes
    nothing."""
    return lambda function: function


def _operation(x: Tensor | OpView | str) -> str:
    if isinstance(x, Variable):
        return x.handle.ref.op
    if isinstance(x, Tensor):
        return x.ref.op
    return x.name if isinstance(x, OpView) else x


VALUES = {"AUTO_REUSE": AUTO_REUSE, "GraphKeys": GraphKeys}
FUNCTIONS: dict[str, Any] = {
    "RegisterGradient": register_gradient,
    "Variable": variable,
    "add_to_collection": add_to_collection,
    "control_dependencies": control_dependencies,
    "get_collection": get_collection,
    "get_variable": get_variable,
    "get_variable_scope": get_variable_scope,
    "global_variables": global_variables,
    "name_scope": name_scope,
    "trainable_variables": trainable_variables,
    "variable_scope": variable_scope,
}
