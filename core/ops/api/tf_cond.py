"""`tf.cond` and `tf.case`: one of several functions' operations run, the others are dead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import constant
from gradstep.core.ops.build.cond_context import Branch, enter_branch
from gradstep.core.ops.build.nest import leaves, map_structure, require_same
from gradstep.core.ops.build.tensor import OpView, Tensor, TensorLike, call, call_many

Function = Callable[[], Any]

_FIRST = np.array(0, np.int32)
_NONE = "None of the conditions evaluated as True."
_SEVERAL = "More than one condition evaluated as True but exclusive=True."


def cond(
    pred: TensorLike,
    true_fn: Function | None = None,
    false_fn: Function | None = None,
    strict: bool = False,
    name: str | None = None,
) -> Any:
    """What `true_fn()` returns where `pred` is true, else what `false_fn()` does: tensors, nested
    in the same way; a single one as it is, unless `strict`.

    Operations that the functions make run only where theirs is taken; what is made outside runs
    always. Raises GradstepError in TensorFlow's words.
    """
    true_fn, false_fn = _callable(true_fn, "true_fn"), _callable(false_fn, "false_fn")
    if isinstance(pred, bool):
        raise GradstepError(
            "'pred' must not be a Python bool.",
            kind="TypeError",
            hint="with a Python bool, use Python's own 'if'; else give a tensor of type bool",
        )
    pred = constant(pred)
    with pred.builder.scope(name or "cond"):
        branch_false, branch_true = _branches(pred)
        on_true = _results(branch_true, true_fn)
        return _merged(_results(branch_false, false_fn), on_true, strict)


def _callable(function: Function | None, argument: str) -> Function:
    if function is None:
        raise GradstepError(f"cond(): '{argument}' argument required", kind="TypeError")
    if not callable(function):
        raise GradstepError(
            f"'{argument}' must be callable.", kind="TypeError", hint="put 'lambda:' before it"
        )
    return function


def _branches(pred: Tensor) -> tuple[Branch, Branch]:
    """That of the function for false and that of the one for true."""
    builder = pred.builder
    on_false, on_true = call_many("Switch", pred, pred)
    pivot_true = call("Identity", on_true, name="switch_t")
    pivot_false = call("Identity", on_false, name="switch_f")
    chosen = call("Identity", pred, name="pred_id")
    outer = builder.branch
    return (
        Branch(builder, chosen, pivot_false, 0, outer),
        Branch(builder, chosen, pivot_true, 1, outer),
    )


def _results(branch: Branch, function: Function) -> Any:
    """What `function` returns in `branch`, each tensor as one of the branch."""
    builder = branch.pivot.builder
    which = "true_fn" if branch.index else "false_fn"
    with enter_branch(builder, branch), builder.as_default():
        results = function()
        if results is None:
            raise GradstepError(
                f"'{which}' must have a return value.",
                kind="ValueError",
                hint="return a tensor from each function",
            )
        return map_structure(results, partial(_result, branch))


def _result(branch: Branch, result: Any) -> Tensor:
    """A result of the branch. What has no value, as an update's operation, gives the pivot's."""
    builder = branch.pivot.builder
    if isinstance(result, OpView):
        waiting = builder.op(
            "Identity", branch.pivot, name="control_dependency", control_inputs=(result.name,)
        )
        return waiting[0]
    return branch.brought(constant(result), builder.unique("Switch"))


def _merged(on_false: Any, on_true: Any, strict: bool) -> Any:
    if not strict:
        on_false, on_true = _unpacked(on_false), _unpacked(on_true)
    require_same(on_true, on_false)
    pairs = [*zip(leaves(on_false), leaves(on_true), strict=True)]
    if not pairs:
        raise GradstepError(
            "'true_fn' and 'false_fn' must return at least one result.", kind="ValueError"
        )
    for other, one in pairs:
        if other.dtype is not one.dtype:
            raise GradstepError(
                "Outputs of 'true_fn' and 'false_fn' must have the same type(s). Received "
                f"{one.dtype.value} from 'true_fn' and {other.dtype.value} from 'false_fn'.",
                kind="ValueError",
                hint=f"put a Cast to {one.dtype.value} into 'false_fn'",
            )
    merged = iter([_merge(*pair) for pair in pairs])
    return map_structure(on_true, lambda _: next(merged))


def _merge(other: Tensor, one: Tensor) -> Tensor:
    kind = "RefMerge" if other.type.ref and one.type.ref else "Merge"
    return call_many(kind, other, one)[0]


def _unpacked(results: Any) -> Any:
    single = isinstance(results, list | tuple) and len(results) == 1
    return results[0] if single else results


def case(
    pred_fn_pairs: Sequence[tuple[TensorLike, Function]] | Mapping[Tensor, Function],
    default: Function | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function of the first predicate that is true returns, or else `default()`.

    Without a default the last function is taken where no predicate is true, once an Assert has
    failed; with `exclusive`, one fails where several are true.
    """
    pairs = [*(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)]
    if not pairs:
        raise GradstepError(
            "case() needs at least one pair of predicate and function", kind="ValueError"
        )
    for pred, function in pairs:
        _callable(function, "fn")
        if not isinstance(pred, Tensor) or pred.dtype is not DType.BOOL:
            raise GradstepError("pred must be Tensor, got " + type(pred).__name__, kind="TypeError")
    builder = pairs[0][0].builder
    with builder.scope(name):
        last = _asserted(pairs) if default is None else _callable(default, "default")
        chosen: Function = last
        for pred, function in reversed(pairs if default else pairs[:-1]):
            chosen = partial(cond, pred, function, chosen, strict)
        waits = [_assert(_at_most_one(pairs), _SEVERAL)] if exclusive else []
        with builder.control_dependencies(waits):
            return chosen()


def _asserted(pairs: Sequence[tuple[Tensor, Function]]) -> Function:
    """The last function, after an Assert that some predicate is true."""

    def checked() -> Any:
        some = call("Any", call("Pack", *(pred for pred, _ in pairs)), _FIRST)
        with pairs[0][0].builder.control_dependencies([_assert(some, _NONE)]):
            return map_structure(pairs[-1][1](), lambda x: call("Identity", constant(x)))

    return checked


def _at_most_one(pairs: Sequence[tuple[Tensor, Function]]) -> Tensor:
    flags = call("Cast", call("Pack", *(pred for pred, _ in pairs)), DstT=DType.INT32)
    return call("Less", call("Sum", flags, _FIRST), np.array(2, np.int32))


def _assert(condition: Tensor, text: str) -> str:
    """The name of an Assert that fails with `text` where `condition` is false."""
    name = condition.builder.unique("Assert")
    call_many("Assert", condition, constant(np.array(text, object)), name="Assert")
    return name


FUNCTIONS = {"case": case, "cond": cond}
