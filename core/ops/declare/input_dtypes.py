"""Element types and handles that inputs declare to take, asked before an op's own type rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.declare.definition import Infer, InferContext
from gradstep.core.ops.declare.input_spec import InputSpec
from gradstep.core.ops.declare.resource_handles import misfit


def as_declared(rule: Infer, inputs: Sequence[InputSpec], type_attrs: Mapping[str, str]) -> Infer:
    """`rule`, for inputs of the element types and handles that `inputs` declare. type_attrs: see
    `op`."""
    specs = {spec.name: spec for spec in inputs}
    if not any(spec.takes or spec.like or spec.handle for spec in inputs):
        return rule

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        names = ctx.definition.arity(len(ctx.types))
        types = dict(zip(names, ctx.types, strict=True))
        for name, given in types.items():
            spec = specs[name.partition("[")[0]]
            like = types[spec.like].dtype if spec.like else None
            refused = _refusal(ctx, name, given, spec, like, type_attrs)
            if refused is not None:
                raise refused
        return rule(ctx)

    return checked


def _refusal(
    ctx: InferContext,
    name: str,
    given: TensorType,
    spec: InputSpec,
    like: DType | None,
    type_attrs: Mapping[str, str],
) -> GradstepError | None:
    """Why `given` is not what the input `name` is declared to take; None where it is."""
    if spec.takes and given.dtype not in spec.takes:
        return _not_taken(ctx, name, given.dtype, spec, type_attrs)
    if like is not None and given.dtype is not like:
        return _unlike(ctx, name, given.dtype, spec.like, like)
    return misfit(spec.handle, given, ctx.op.type, name) if spec.handle else None


def not_allowed(attr: str, found: DType, allowed: Sequence[DType]) -> str:
    """TensorFlow's sentence for an element type that the attribute `attr` may not have."""
    return (
        f"Value for attr '{attr}' of {found.cpp_name} is not in the list of allowed values: "
        f"{', '.join(kind.cpp_name for kind in allowed)}"
    )


def _not_taken(
    ctx: InferContext, name: str, found: DType, spec: InputSpec, type_attrs: Mapping[str, str]
) -> GradstepError:
    """In TensorFlow's words: it has others for an input whose type is an attribute."""
    attr = next((attr for attr, source in type_attrs.items() if source == spec.name), "")
    if attr:
        text = not_allowed(attr, found, spec.takes)
    else:
        text = _mismatch(ctx, name, found, f"expected type of {spec.takes[0].value}")
    return ctx.fail(text, _hint(name, " or ".join(kind.value for kind in spec.takes)))


def _unlike(ctx: InferContext, name: str, found: DType, other: str, wanted: DType) -> GradstepError:
    text = _mismatch(ctx, name, found, f"type {wanted.value} of argument '{other}'")
    return ctx.fail(text, _hint(name, wanted.value))


def _mismatch(ctx: InferContext, name: str, found: DType, wanted: str) -> str:
    op, kind = ctx.op.type, found.value
    return f"Input '{name}' of '{op}' Op has type {kind} that does not match {wanted}."


def _hint(name: str, wanted: str) -> str:
    return f"'{name}' takes {wanted}: set the dtype of its Const, or put a Cast before it"
