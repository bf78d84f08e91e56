"""`tf.while_loop`: a body that runs again and again while a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.loop import Loop
from gradstep.core.ops.api.tf_creation import constant
from gradstep.core.ops.api.tf_tensor_array import TensorArray
from gradstep.core.ops.build.cond_context import enter_branch
from gradstep.core.ops.build.nest import leaves, map_structure, require_same
from gradstep.core.ops.build.python_values import as_shape
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call, call_many
from gradstep.core.ops.build.while_context import LoopBody
from gradstep.core.ops.typing.loop_types import covers, narrower, varying_shape

Function = Callable[..., Any]


def while_loop(
    cond: Function,
    body: Function,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Any:
    """What the loop variables are once `cond(*loop_vars)` is false, each `body(*loop_vars)` giving
    their next values; a single one as it is, unless `return_same_structure`.

    Operations that the functions make run in every iteration, and may read tensors from outside.
    shape_invariants: for each variable the shape that it has in all iterations (by default the one
    that it enters with). Raises GradstepError in TensorFlow's words. parallel_iterations and
    swap_memory are kept for the file; back_prop=False stops gradients.
    """
    _require(cond, body, loop_vars)
    if not isinstance(loop_vars, list | tuple):
        loop_vars = [loop_vars]
    builder = builder_of([*map(_flow, leaves(loop_vars))])
    with builder.scope(name or "while"):
        counted = maximum_iterations is not None
        if counted:
            most = _count(maximum_iterations, "maximum_iterations")
            cond, body = _counting(cond, body, most)
            loop_vars = (_count(0, "iteration_counter"), loop_vars)
            if shape_invariants is not None:
                shape_invariants = (Shape(()), shape_invariants)
        loop_vars = map_structure(loop_vars, _tensor)
        shapes = _shapes(loop_vars, shape_invariants)
        results = _Building(cond, body, loop_vars, shapes, parallel_iterations).run()
        results = results[1] if counted else results
        if not back_prop:
            results = map_structure(results, _stopped)
    single = len(results) == 1 and not return_same_structure
    return results[0] if single else results


def _require(cond: Function, body: Function, loop_vars: Any) -> None:
    for function, argument in ((cond, "cond"), (body, "body")):
        if not callable(function):
            raise GradstepError(
                f"'{argument}' must be callable.", kind="TypeError", hint="give a function"
            )
    if isinstance(loop_vars, list | tuple | dict) and not loop_vars:
        raise GradstepError(
            "'loop_vars' must be provided.",
            kind="ValueError",
            hint="give the first value of what changes from iteration to iteration",
        )


def _tensor(value: TensorLike | TensorArray) -> Tensor | TensorArray:
    return value if isinstance(value, TensorArray) else constant(value)


def _flow(value: TensorLike | TensorArray) -> TensorLike:
    """What goes round in place of an array: the array itself is the same all the time."""
    return value.flow if isinstance(value, TensorArray) else value


def _stopped(value: Tensor | TensorArray) -> Tensor | TensorArray:
    if isinstance(value, TensorArray):
        return value.with_flow(call("StopGradient", value.flow))
    return call("StopGradient", value)


def _count(value: TensorLike, name: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    return call("Const", value=np.array(value, np.int32), dtype=DType.INT32, name=name)


def _counting(cond: Function, body: Function, most: Tensor) -> tuple[Function, Function]:
    """The same functions with a counter as the first variable, which ends the loop as well."""

    def goes_on(counter: Tensor, variables: Any) -> Tensor:
        return call("LogicalAnd", call("Less", counter, most), constant(cond(*variables)))

    def counted(counter: Tensor, variables: Any) -> Any:
        after = call("AddV2", counter, np.array(1, np.int32), name="add")
        return after, _like(variables, body(*variables))

    return goes_on, counted


def _like(variables: Any, results: Any) -> Any:
    """What a body returned, as many as there are variables."""
    if not isinstance(results, list | tuple):
        results = [results]
    if any(result is None for result in leaves(results)):
        raise GradstepError(
            "None values not supported.",
            kind="ValueError",
            hint="the body has to return the next value of every loop variable",
        )
    require_same(list(variables), list(results))
    return type(variables)(results)


def _shapes(loop_vars: Any, invariants: Any) -> list[Shape]:
    """The shape of each variable that holds in all iterations."""
    given = [*map(_flow, leaves(loop_vars))]
    if invariants is None:
        return [tensor.shape for tensor in given]
    shapes = [as_shape(shape) for shape in _shape_leaves(loop_vars, invariants)]
    for tensor, shape in zip(given, shapes, strict=True):
        if not covers(shape, tensor.shape):
            raise narrower(tensor.name, tensor.shape, shape)
    return shapes


def _shape_leaves(loop_vars: Any, invariants: Any) -> list[Any]:
    """What `invariants` has for each tensor: a shape may be written as a list itself."""
    if isinstance(loop_vars, Tensor | TensorArray):
        return [invariants]
    given = loop_vars
    if isinstance(loop_vars, Mapping):
        given, invariants = ([s[key] for key in sorted(loop_vars)] for s in (loop_vars, invariants))
    if len(given) != len(invariants):
        require_same(list(given), list(invariants))
    pairs = zip(given, invariants, strict=True)
    return [shape for pair in pairs for shape in _shape_leaves(*pair)]


class _Building:
    """One loop in the making, in the scope that is open. shapes: of the variables, in all
    iterations."""

    def __init__(
        self, cond: Function, body: Function, loop_vars: Any, shapes: Sequence[Shape], width: int
    ) -> None:
        self._cond, self._body = cond, body
        self._loop_vars, self._shapes = loop_vars, shapes
        self._given: list[Tensor] = [*map(_flow, leaves(loop_vars))]
        self._builder = builder_of(self._given)
        self._context = LoopBody(self._builder, self._builder.branch)
        scope = self._builder.scope_name
        self._frame = {"frame_name": f"{scope}/while_context", "parallel_iterations": width}

    def run(self) -> Any:
        """The final values, nested as the variables are."""
        entering = [call("Enter", x, name="Enter", **self._frame) for x in self._given]
        with enter_branch(self._builder, self._context), self._builder.as_default():
            loop = self._loop(entering)
        outputs = call_many(
            "While",
            *entering,
            *self._context.captured,
            name="While",
            loop=loop,
            parallel_iterations=self._frame["parallel_iterations"],
        )
        return self._nested([call("Exit", x, name="Exit") for x in outputs[: len(entering)]])

    def _loop(self, entering: Sequence[Tensor]) -> Loop:
        variables = [
            self._context.variable(x, shape)
            for x, shape in zip(entering, self._shapes, strict=True)
        ]
        goes_on = constant(self._cond(*self._nested(variables)))
        cond = call("LoopCond", goes_on, name="LoopCond")
        sides = [call_many("Switch", x, cond, name="Switch") for x in variables]
        values = [call("Identity", side[1], name="Identity") for side in sides]
        self._context.begin_body(values[0])
        results = _like(self._loop_vars, self._body(*self._nested(values)))
        ends = zip(map(_flow, leaves(results)), self._given, variables, strict=True)
        return self._context.finished(cond, [self._next(*each) for each in ends])

    def _nested(self, tensors: Sequence[Tensor]) -> Any:
        """The tensors in place of the variables, an array with its flow."""
        left = iter(tensors)

        def placed(variable: Tensor | TensorArray) -> Tensor | TensorArray:
            return (
                variable.with_flow(next(left)) if isinstance(variable, TensorArray) else next(left)
            )

        return map_structure(self._loop_vars, placed)

    def _next(self, result: TensorLike, given: Tensor, variable: Tensor) -> Tensor:
        """The value of a variable in the next iteration."""
        result = self._builder.tensor(result, dtype=variable.dtype)
        if not covers(variable.shape, result.shape):
            raise varying_shape(given.name, variable.shape, result.shape)
        return call("NextIteration", result, name="NextIteration")


FUNCTIONS = {"while_loop": while_loop}
