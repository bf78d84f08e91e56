"""The op table: one record per op type, which everything else reads.

A record is made by `op(...)` in one of the family modules beside this file. The palette, the
reference pages, shape inference, every backend, differentiation, import, export and the tests
are all driven by it; adding an op touches no other file. See docs/adding-an-op.md.

Kernels and state. A variable reaches a kernel as the array it holds (None where an op may meet
one that has no value yet). An op that updates variables names them in `writes`, and its kernel
returns their new values in that order, changing nothing in place: Assign (`writes=(0,)`) returns
one array, ApplyAdam (`writes=(0, 1, 2)`) a tuple of three. Outputs of its own come before them
(CountUpTo); output 0 is none, if it is the buffer that `aliases` names.

Other kernels return one array, or a tuple of them when the op has several outputs or any number.
A result may be a view of an input, and on NumPy a scalar; the caller makes it an array.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.declare.arithmetic_class import Arithmetic, arithmetic_of
from gradstep.core.ops.declare.definition import (
    Branch,
    Defect,
    First,
    Follow,
    GradientRule,
    Infer,
    InferContext,
    OpDef,
    Sample,
    Samples,
)
from gradstep.core.ops.declare.domain_limits import Breaks
from gradstep.core.ops.declare.input_dtypes import as_declared
from gradstep.core.ops.declare.input_spec import InputSpec
from gradstep.core.ops.declare.resource_handles import checked
from gradstep.core.ops.declare.ufunc import Kernel, from_calls, ufunc_kernel, ufunc_out_kernel
from gradstep.core.ops.state.opaque_state import OpaqueState

_TABLE: dict[str, OpDef] = {}


def op(
    type: str,
    *,
    also: str = "",
    inputs: str = "",
    outputs: str = "output",
    attrs: Mapping[str, Any] | None = None,
    type_attrs: Mapping[str, str] | None = None,
    choices: Mapping[str, tuple[Any, ...]] | None = None,
    follow: Mapping[str, Follow] | None = None,
    formula: str = "",
    infer: Infer,
    kernel: Kernel | None = None,
    ufunc: str | None = None,
    out_kernel: Kernel | None = None,
    out_calls: Kernel | None = None,
    gradient: GradientRule | None = None,
    differentiable: bool | None = None,
    takes_slices: bool = False,
    broadcasts: bool = False,
    elementwise: bool | None = None,
    keeps_bytes: bool = False,
    slices: bool = False,
    pieces: Kernel | None = None,
    in_place: str | None = None,
    arithmetic: Arithmetic | None = None,
    stateful: bool = False,
    aliases: int | None = None,
    writes: tuple[int, ...] = (),
    counter: bool = False,
    first: First | None = None,
    branch: Branch = "",
    per_run: type[OpaqueState] | None = None,
    python: str = "",
    breaks: Breaks = MappingProxyType({}),
    flat: str = "",
    vanishes: str = "",
    doc: str,
    kinks: str = "",
    differs: str = "",
    defects: Sequence[Defect] = (),
    samples: Samples | None = None,
) -> OpDef:
    """Declare one op type and add it to the table.

    also:        the name of the same op in older graphs.
    inputs:      names in order, separated by spaces; `name*` is variadic, `&name` a ref variable,
                 `#name` a shape, axis or count that the kernel reads on the host; with
                 `:int32,int64` behind it where it takes these element types alone, or `:other`
                 where it has the element type of that input, or `:queue` where it is the handle of
                 one (core/ops/declare/resource_handles.py has the others). What else must hold,
                 `infer` says.
    outputs:     names likewise; empty for an op without outputs; `name*` for as many as its
                 type rule gives.
    attrs:       name -> default value, or name -> Python type (or DType) when it must be given.
    type_attrs:  NodeDef attributes that follow from the inputs, for export: name -> "input" (its
                 dtype), "types(input)" (of a variadic one, all of them), "len(input)" (how many) or
                 "=attr" (another attribute's value).
    choices:     name -> the values an attribute may have, where they are few ("SAME", "VALID").
    follow:      name -> what all attributes are once a user has set this one, where others hang on
                 it (a constant's value on its dtype); raises GradstepError where they cannot.
    formula:     text in the inputs' and attributes' names that evaluates to the kernel's value.
    infer:       rule from input types to output types; raises through `ctx.fail`.
    kernel:      `kernel(xp, *inputs, **wanted)` on arrays of the namespace `xp`; keyword-only
                 parameters name attributes, or `rules`
                 (gradstep.core.ops.declare.system_rules.Rules), `op` (the Operation) or
                 `functions` (the document's Python functions by name).
    ufunc:       name of the NumPy function that is the whole kernel and has an `out=` form.
    out_kernel:  `kernel` with one more keyword: `out`, an array (or tuple of them) to write into.
    out_calls:   the same for NumPy as a list of bound calls: yields tuples of a function and its
                 arguments; `room(shape, dtype)` is memory between them, which other steps write to
                 as well. A plan lists them once, and makes them in every run: what decides which
                 calls there are has to be the same in all (attributes, shapes, types, inputs read
                 on the host). Arrays of an elementwise op without `writes` may have gaps between
                 rows.
    gradient:    `rule(op, *grads)` that builds ops; None in its result means "no gradient".
    differentiable: False marks a deliberate "no gradient" (every input gets None), TensorFlow's
                 NotDifferentiable. None: yes if there is a rule, else asking is a LookupError.
    takes_slices: the rule takes IndexedSlices for its gradient; others get the whole tensor.
    broadcasts:  inputs broadcast; the differentiator sums gradients back to each input's shape.
    elementwise: each element of a result comes from the elements at its place, and from scalars:
                 it may be computed in parts, and over its inputs. None: what has a ufunc is.
    keeps_bytes: each result is the first input's bytes, in another shape at most.
    slices:      the results are parts of the one input that is not read on the host; the kernel
                 gives views of it, whose places the other inputs and its shape decide.
    pieces:      of an op that puts its inputs together: `pieces(result, *inputs, **attrs)`, the
                 view of the result that equals each input (None: none does).
    in_place:    names of inputs that `out` may share memory with. None: all of them where the whole
                 result is there before any of it is written, and for a ufunc; else none.
    arithmetic:  how far right results may be apart (see arithmetic_class.py); what comes from the
                 ufunc, else "library".
    aliases:     output 0 is the same buffer as this ref input (Identity of a variable, Assign).
    writes:      the ref or resource inputs whose variables this op updates; the kernel returns
                 their new values in this order (see the module's docstring).
    counter:     the op keeps a number from run to run (how much of its random stream is used up):
                 the kernel takes it, int64 and at first 0, as one more input on the host, and
                 returns its new value after the outputs.
    first:       the op declares state that is no array (core/ops/state/opaque_state.py) and
                 outlives runs (a queue): its output is the handle, and `first(op)` what that holds
                 before any run.
    per_run:     a class of state that is no array. All ops of a run that name it work on one object
                 of it, which is made without arguments when the run starts: the kernel takes it
                 after its inputs, and returns the next one after its results.
    branch:      "switch": input 0 goes on at output 1 where input 1 is true, else at output 0; what
                 needs the other is dead, and does not run. "merge": the op runs when one of its
                 inputs is alive, and takes that. "trigger": it runs, whatever it waits for is dead.
                 "loop": what a Switch passes on by its output is alive whenever it is asked for.
    python:      names of the function of `tf` that is this op and takes its inputs in order; what
                 has arguments of its own is a function in core/ops/api.
    breaks:      what is wrong where a result is NaN or infinite, though no operand is: its name ->
                 a condition on the operands (core/ops/declare/domain_limits.py). What none says
                 has overflowed.
    flat:        what it is called where a result does not follow an input at all ("saturated"), if
                 not that the slope is 0 there; vanishes: what, where it is 0 of operands that are
                 not ("underflow"). core/checks/why/cause_table.py has the names.
    doc, kinks, differs: for people: one sentence; where the derivative jumps; where and why the
                 op is not TensorFlow's.
    defects:     where it is, and TensorFlow's gradient is not what finite differences give.
    samples:     inputs for the table's tests.
    """
    if ufunc is not None:
        kernel = kernel or ufunc_kernel(ufunc)
        out_kernel = out_kernel or ufunc_out_kernel(ufunc)
    subject, family = _place_of_caller()
    specs = tuple(InputSpec.of(text) for text in inputs.split())
    kernel = None if kernel is None else checked(kernel, specs)
    definition = OpDef(
        type=type,
        inputs=specs,
        outputs=tuple(outputs.split()),
        attrs=MappingProxyType(dict(attrs or {})),
        type_attrs=MappingProxyType(dict(type_attrs or {})),
        choices=MappingProxyType(dict(choices or {})),
        follow=MappingProxyType(dict(follow or {})),
        formula=formula,
        infer=as_declared(infer, specs, type_attrs or {}),
        kernel=kernel,
        out_kernel=out_kernel or (None if out_calls is None else from_calls(out_calls)),
        out_calls=out_calls,
        ufunc=ufunc,
        gradient=gradient,
        differentiable=gradient is not None if differentiable is None else differentiable,
        takes_slices=takes_slices,
        broadcasts=broadcasts,
        elementwise=ufunc is not None if elementwise is None else elementwise,
        keeps_bytes=keeps_bytes,
        slices=slices,
        pieces=pieces,
        in_place=_in_place(
            in_place, inputs, ufunc is not None or (out_kernel is None and out_calls is None)
        ),
        arithmetic=arithmetic or arithmetic_of(ufunc),
        stateful=stateful,
        aliases=aliases,
        writes=writes,
        counter=counter,
        first=first,
        branch=branch,
        per_run=per_run,
        subject=subject,
        family=family,
        python=tuple(python.split()),
        breaks=breaks,
        flat=flat,
        vanishes=vanishes,
        doc=doc,
        kinks=kinks,
        differs=differs,
        defects=tuple(defects),
        samples=samples,
        kernel_keywords=_keywords(kernel),
    )
    # `no gradient on purpose` is remembered as a rule that returns nothing.
    if differentiable is False and gradient is None:
        object.__setattr__(definition, "gradient", _no_gradient)
    for name in (type, *also.split()):
        if name in _TABLE:
            raise ValueError(f"op type {name} is declared twice")
        _TABLE[name] = definition if name == type else replace(definition, type=name)
    return definition


def find(type: str) -> OpDef | None:
    """The record for an op type, or None."""
    definition = _TABLE.get(type)
    if definition is None:
        _load()
        definition = _TABLE.get(type)
    return definition


def branch_of(type: str) -> Branch:
    """What operations of this type do in a cond or loop (see `op`); "" for an unknown type, too."""
    definition = find(type)
    return "" if definition is None else definition.branch


def lookup(type: str, node: str | None = None) -> OpDef:
    """The record for an op type. Raises GradstepError (UnknownOpError) when there is none."""
    definition = find(type)
    if definition is None:
        hint = did_you_mean(near(type, _TABLE)) or "docs/ops.md lists those it has"
        raise not_registered(type, node, hint)
    return definition


def not_registered(type: str, node: str | None, hint: str) -> GradstepError:
    """The error for an op type that is not in the table."""
    text = f"Op type not registered '{type}': Gradstep has no operation of that type"
    return GradstepError(text, kind="UnknownOpError", node=node, hint=hint)


def all_ops() -> Iterator[OpDef]:
    """Every record, in order of declaration."""
    _load()
    yield from _TABLE.values()


def _load() -> None:
    """Import the catalogue, or wait for the thread that does. Here, because its modules import
    this one."""
    importlib.import_module("gradstep.core.ops.catalogue")


def _in_place(names: str | None, inputs: str, anywhere: bool) -> tuple[int, ...] | None:
    """Indexes of the inputs that may be written over; None for all."""
    if names is None:
        return None if anywhere else ()
    order = [InputSpec.of(text).name for text in inputs.split()]
    return tuple(order.index(name) for name in names.split())


def _no_gradient(op: Any, *grads: Any) -> list[None]:
    return [None] * len(op.inputs)


def _keywords(kernel: Kernel | None) -> tuple[str, ...]:
    if kernel is None:
        return ()
    parameters = inspect.signature(kernel).parameters.values()
    return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


def _place_of_caller() -> tuple[str, str]:
    """Folder and module that declare the op: its subject ("math") and family ("reduction")."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    module = "" if frame is None else str(frame.f_globals["__name__"])
    _, _, subject = module.rpartition(".")[0].rpartition(".")
    return subject, module.rpartition(".")[2]


__all__ = [
    "Defect",
    "Infer",
    "InferContext",
    "OpDef",
    "Sample",
    "Samples",
    "all_ops",
    "find",
    "lookup",
    "op",
]
