"""The ops of TensorFlow's optimizers: every rule for ref and resource variables, whole or in rows.

Gradient descent and Adam are in training.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.op_state import Writes
from gradstep.core.ops.declare.optimizer_table import RULES, Rule
from gradstep.core.ops.declare.result_memory import Elementwise, Memory
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, lookup, op
from gradstep.core.ops.declare.type_rules import (
    merge_shapes,
    one_floating_type,
    want_rank,
    wrong_type,
)
from gradstep.core.ops.numerics.fused_functions import fused, marked
from gradstep.core.ops.numerics.index_bounds import bounds_hint, check, refused_whole, resolve
from gradstep.core.ops.numerics.scatter import in_turn

Dims = tuple[int | None, ...] | None


def _names(rule: Rule, sparse: bool) -> list[str]:
    """Inputs in order, as the rule calls them; the indices come right after the gradient."""
    values = rule.values.replace("grad", "grad indices") if sparse else rule.values
    return [*rule.state.split(), *values.split()]


def _type_rule(rule: Rule, form: str) -> Callable[[InferContext], Any]:
    names, state = _names(rule, "Sparse" in form), rule.state.split()
    first = len(state) if "Resource" in form else 0  # handles tell no element type

    def infer(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        kinds = dict(zip(names, ctx.types, strict=True))
        own = [k for n, k in kinds.items() if n not in ("indices", "global_step")]
        dtype = one_floating_type(ctx, tuple(own[first:]))
        if rule.compares and dtype.is_complex:
            raise wrong_type(ctx, dtype, "real floating-point numbers")
        shape = kinds["var"].shape
        for name in state[1:]:
            shape = merge_shapes(ctx, shape, kinds[name].shape)
        for index, name in enumerate(names):
            if name not in (*state, "grad", "indices"):
                want_rank(ctx, index, 0)
        if "indices" not in kinds:
            shape = merge_shapes(ctx, shape, kinds["grad"].shape)
        else:
            if kinds["indices"].dtype not in (DType.INT32, DType.INT64):
                raise wrong_type(ctx, kinds["indices"].dtype, "indices of int32 or int64")
            _check_rows(shape, kinds["grad"].shape, kinds["indices"].shape)
        return () if "Resource" in form else TensorType(kinds["var"].dtype, shape, ref=True)

    return infer


def _check_rows(var: Shape, grad: Shape, indices: Shape) -> None:
    """The gradient is rows of the variable, one for each index. Raises GradstepError."""
    if var.rank == 0:
        raise GradstepError("var must be at least 1 dimensional")
    if not _fit(indices.dims, (None,)):
        raise GradstepError("indices must be one-dimensional")
    if grad.dims is None:
        return
    if not _fit(grad.dims[:1], indices.dims):
        raise GradstepError("grad must be the same size as indices in the first dimension.")
    for axis in range(1, 0 if var.dims is None else max(len(var.dims), len(grad.dims))):
        if var.dims is None or not _fit(var.dims[axis : axis + 1], grad.dims[axis : axis + 1]):
            raise GradstepError(f"var and grad must match in dimension {axis}")


def _fit(a: Dims, b: Dims) -> bool:
    try:
        Shape(a).merge(Shape(b))
    except ValueError:
        return False
    return True


def _dense_kernel(rule: Rule) -> Callable[..., Any]:
    names, state, step = _names(rule, sparse=False), rule.state.split(), fused(rule.step)

    def kernel(xp: Any, *inputs: Any, op: Operation, **out: Any) -> Any:
        given = dict(zip(names, inputs, strict=True)) | _attrs(rule, op)
        held = [given.pop(name) for name in state]
        return step(xp, *held, **given, **out)

    return marked(kernel)


def _sparse_kernel(rule: Rule) -> Callable[..., Any]:
    """Row after row: a row that is named twice takes two steps."""
    names, state, step = _names(rule, sparse=True), rule.state.split(), fused(rule.step)

    def kernel(xp: Any, *inputs: Any, op: Operation, rules: Rules = TF_CPU) -> Any:
        given = dict(zip(names, inputs, strict=True)) | _attrs(rule, op)
        held = [xp.array(given.pop(name)) for name in state]
        grad, indices = given.pop("grad"), given.pop("indices")
        _check_rows(*(Shape(tuple(x.shape)) for x in (held[0], grad, indices)))
        rows = _rows(indices, held[0].shape[0], rules)
        for positions in in_turn(rows):
            kept = positions[rows[positions] >= 0]
            at, which = xp.asarray(rows[kept]), xp.asarray(kept)
            new = step(xp, *(x[at] for x in held), grad=grad[which], **given)
            for whole, part in zip(held, new, strict=True):
                whole[at] = part
        return tuple(held)

    return kernel


def _attrs(rule: Rule, operation: Operation) -> dict[str, Any]:
    definition = lookup(operation.type)
    return {name: definition.attr(operation, name) for name in rule.attrs}


def _rows(indices: np.ndarray, size: int, rules: Rules) -> np.ndarray:
    rows, outside = resolve(np, indices, size, rules.scatter, rules.negative_ok)
    if rules.scatter == "raise":
        check(np, outside, lambda place: refused_whole(_no_such_row(indices, place, size)))
    return np.where(size == 0 or outside, -1, rows)


def _no_such_row(indices: Any, place: tuple[int, ...], size: int) -> GradstepError:
    return GradstepError(
        f"Index {indices[place]} at offset {place[0]} in indices is out of range",
        index=place,
        hint=bounds_hint(size),
    )


_SCALARS = {
    "lr": 0.1,
    "alpha": 0.1,
    "momentum": 0.9,
    "rho": 0.8,
    "epsilon": 1e-3,
    "l1": 0.05,
    "l2": 0.02,
    "l2_shrinkage": 0.01,
    "lr_power": -0.5,
    "beta1": 0.9,
    "beta2": 0.99,
    "beta1_power": 0.81,
    "beta2_power": 0.98,
}
_ROWS = np.array([2, 0], np.int32)


def _samples(rule: Rule, sparse: bool) -> Callable[[np.random.Generator], list[Sample]]:
    def value(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> Any:
        if name == "global_step":
            return np.int64(3)
        if name == "indices":
            return _ROWS
        if name in _SCALARS:
            return np.array(_SCALARS[name])
        if name == "grad":
            return rng.normal(size=(len(_ROWS), *shape[1:]) if sparse else shape)
        # The running mean of gradients stays small, so that the variance stays positive.
        return rng.normal(size=shape) * 0.1 if name == "mg" else rng.uniform(0.2, 2, shape)

    def make(rng: np.random.Generator) -> list[Sample]:
        flags = [{}, *({name: not default} for name, default in rule.attrs.items())]
        shapes: list[tuple[int, ...]] = [(3,), (3, 2)]
        return [
            Sample(tuple(value(rng, n, shape) for n in _names(rule, sparse)), attrs)
            for attrs in flags
            for shape in shapes
        ]

    return make


def _of_rows(rule: Rule) -> str:
    """The formula of the sparse form: the dense one, of the rows that the indices name."""
    names = "|".join(rule.state.split())
    rows = re.sub(rf"\b({names})\b", r"\1[indices]", rule.formula)
    return f"replaced(var, indices, {rows})"


def _declare(rule: Rule, form: str) -> None:
    sparse, resource = "Sparse" in form, "Resource" in form
    state = rule.state.split()
    written = {"indices": "#indices", "global_step": "global_step:int64"}
    written |= {name: f"{name}:variable" if resource else f"&{name}" for name in state}
    names = [written.get(name, name) for name in _names(rule, sparse)]
    if rule.name == "ProximalGradientDescent" and not sparse:
        names[-1] = "delta"
    form_of = rule.formula.replace("grad", "delta") if names[-1] == "delta" else rule.formula
    types = {"T": "delta" if names[-1] == "delta" else "grad"}
    where = "rows of a" if sparse else "a"
    op(
        f"{form}Apply{rule.name}",
        inputs=" ".join(names),
        outputs="" if resource else "&out",
        attrs={"use_locking": False, **rule.attrs},
        type_attrs={**types, "Tindices": "indices"} if sparse else types,
        formula=_of_rows(rule) if sparse else form_of,
        infer=_type_rule(rule, form),
        kernel=_sparse_kernel(rule) if sparse else _dense_kernel(rule),
        state=Writes(tuple(range(len(state)))),
        gradient=NOT_DIFFERENTIABLE,
        memory=Memory() if sparse else Elementwise(),
        samples=_samples(rule, sparse),
        doc=f"One step of {rule.doc}, on {where}{' resource' if resource else ''} variable.",
        differs="an index outside leaves the variables as they were; TensorFlow applies the rows "
        "before it"
        if sparse
        else "",
    )


for _rule in RULES:
    for _form in _rule.forms:
        _declare(_rule, _form)
