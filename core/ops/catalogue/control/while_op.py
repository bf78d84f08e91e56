"""Loops: While, which runs the graph of its body again and again, and what stands at its edges."""

from __future__ import annotations

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, UNKNOWN, DType, TensorType
from gradstep.core.graph.loop import LOOP, Loop, loop_of
from gradstep.core.ops.catalogue.control.identity_ops import copy_calls
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE, Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Stateful
from gradstep.core.ops.declare.result_memory import View
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.shape_rules import same_as_first
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.typing.loop_types import iteration_types


def _argument(ctx: InferContext) -> TensorType:
    return TensorType(ctx.attr("T"), ctx.attr("shape"), ctx.attr("ref"))


op(
    "_Arg",
    attrs={"T": DType, "shape": UNKNOWN, "ref": False},
    infer=_argument,
    doc="What comes into a loop's body from outside, or from the iteration before.",
)


def _carried(ctx: InferContext) -> tuple[TensorType, ...]:
    """The loop variables, then the trace."""
    loop = loop_of(ctx.op)
    if loop is None:
        raise GradstepError(
            "While calls functions for its condition and its body, which are not in the graph",
            kind="UnimplementedError",
            node=ctx.op.name,
            hint="save the graph with the library of its functions",
        )
    if len(ctx.types) != len(loop.arguments):
        raise ctx.fail(f"While takes {len(loop.arguments)} inputs, not {len(ctx.types)}")
    found = iteration_types(loop, ctx.types, [str(ref) for ref in ctx.op.inputs])
    carried = found.arguments[: len(loop.variables)]
    return (*carried, TensorType(DType.VARIANT, SCALAR, handle="trace"))


op(
    "While",
    inputs="input*",
    outputs="output*",
    attrs={LOOP: Loop, "parallel_iterations": 10},
    infer=_carried,
    state=Stateful(),
    gradient=Gradient(),  # by core/autodiff/reverse/while_vjp.py: it has to know what is asked for
    doc="Runs a graph again and again while its condition holds.",
    differs="the body is a graph in the attribute `loop` and no function, tensors that do not "
    "change come in after the loop variables, and the last output is what the way back needs",
)

for _type, _doc in (
    ("Enter", "The same value, on its way into a loop."),
    ("RefEnter", "The same variable, on its way into a loop."),
    ("Exit", "The same value, on its way out of a loop."),
    ("NextIteration", "The same value, on its way to the next iteration."),
):
    op(
        _type,
        inputs="data",
        outputs="&output",
        attrs={"frame_name": "", "is_constant": False, "parallel_iterations": 10}
        if "Enter" in _type
        else {},
        type_attrs={"T": "data"},
        formula="data",
        infer=same_as_first,
        kernel=Kernels(lambda xp, data: data, calls=copy_calls),
        gradient=Gradient(lambda op, g: g, takes_slices=True),
        samples=unary(),
        arithmetic="exact",
        memory=View(),
        doc=_doc,
    )


def _flag(ctx: InferContext) -> TensorType:
    found = ctx.types[0]
    if found.dtype is not DType.BOOL or found.shape.rank not in (0, None):
        raise ctx.fail(
            f"The condition of a loop must be one bool, not {found}",
            hint="compare numbers, or reduce with All or Any",
        )
    return TensorType(DType.BOOL, SCALAR)


op(
    "LoopCond",
    inputs="input",
    formula="input",
    infer=_flag,
    kernel=Kernels(lambda xp, input: input, calls=copy_calls),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((rng.random() < 0.5,))],
    arithmetic="exact",
    memory=View(),
    branch="loop",
    doc="Whether a loop goes on.",
)
