"""The op table: one record per op type, which everything else reads.

A record is made by `op(...)` in one of the family modules of `core/ops/catalogue`. The palette, the
reference pages, shape inference, every backend, differentiation, import, export and the tests
are all driven by it; adding an op touches no other file. See docs/adding-an-op.md.

Kernels and state. A variable reaches a kernel as the array it holds (None where an op may meet
one that has no value yet). An op that updates variables says which in `state`, and its kernel
returns their new values in that order, changing nothing in place: Assign (`Writes((0,))`) returns
one array, ApplyAdam (`Writes((0, 1, 2))`) a tuple of three. Outputs of its own come before them
(CountUpTo); output 0 is none, if it is declared as the first input's buffer (`&name`).

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
from gradstep.core.ops.declare.bfloat16_refusals import refusing_bfloat16
from gradstep.core.ops.declare.declared_gradient import UNDECLARED, Gradient, GradientRule
from gradstep.core.ops.declare.definition import (
    Branch,
    Follow,
    Infer,
    InferContext,
    OpDef,
    Sample,
    Samples,
)
from gradstep.core.ops.declare.input_dtypes import as_declared
from gradstep.core.ops.declare.input_spec import InputSpec
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import State
from gradstep.core.ops.declare.resource_handles import check_handles
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Elementwise, Memory
from gradstep.core.ops.declare.ufunc import Kernel

_TABLE: dict[str, OpDef] = {}


def op(
    type: str,
    *,
    inputs: str = "",
    outputs: str = "output",
    attrs: Mapping[str, Any] | None = None,
    type_attrs: Mapping[str, str] | None = None,
    formula: str = "",
    infer: Infer,
    kernel: Kernel | Kernels | None = None,
    gradient: GradientRule | Gradient | None = None,
    arithmetic: Arithmetic | None = None,
    samples: Samples | None = None,
    doc: str,
    kinks: str = "",
    differs: str = "",
    also: str = "",
    python: str = "",
    choices: Mapping[str, tuple[Any, ...]] | None = None,
    follow: Mapping[str, Follow] | None = None,
    broadcasts: bool = False,
    memory: Memory | None = None,
    state: State | None = None,
    branch: Branch = "",
    causes: Causes | None = None,
) -> OpDef:
    """Declare one op type and add it to the table. Most ops take these:

    inputs:      names in order, separated by spaces; `name*` is variadic, `&name` a ref variable,
                 `#name` a shape, axis or count that the kernel reads on the host; with
                 `:int32,int64` behind it where it takes these element types alone, or `:other`
                 where it has the element type of that input, or `:queue` where it is the handle of
                 one (core/ops/declare/resource_handles.py has the others). What else must hold,
                 `infer` says.
    outputs:     names likewise; empty for an op without outputs; `name*` for as many as its
                 type rule gives; `&name`, the first one, for the very buffer of the first input
                 where that is a ref variable (Identity, Assign).
    attrs:       name -> default value, or name -> Python type (or DType) when it must be given.
    type_attrs:  NodeDef attributes that follow from the inputs, for export: name -> "input" (its
                 dtype), "types(input)" (of a variadic one, all of them), "len(input)" (how many) or
                 "=attr" (another attribute's value).
    formula:     text in the inputs' and attributes' names that evaluates to the kernel's value.
    infer:       rule from input types to output types; raises through `ctx.fail`.
    kernel:      `kernel(xp, *inputs, **wanted)` on arrays of the namespace `xp`; keyword-only
                 parameters name attributes, or `rules`
                 (gradstep.core.ops.declare.system_rules.Rules), `op` (the Operation) or
                 `functions` (the document's Python functions by name). Or `ufunc("tanh")`, or
                 Kernels, which can write into a place (kernel_forms.py).
    gradient:    `rule(op, *grads)` that builds ops; None in its result means "no gradient". Or
                 NOT_DIFFERENTIABLE, or a Gradient that says more (declared_gradient.py).
    arithmetic:  how far right results may be apart (arithmetic_class.py); what comes from the
                 ufunc, else "library".
    samples:     inputs for the table's tests.
    doc, kinks, differs: for people: one sentence; where the derivative jumps; where and why the
                 op is not TensorFlow's.

    What some need besides:

    also:        the name of the same op in older graphs.
    python:      names of the function of `tf` that is this op and takes its inputs in order; what
                 has arguments of its own is a function in core/ops/api.
    choices:     name -> the values an attribute may have, where they are few ("SAME", "VALID").
    follow:      name -> what all attributes are once a user has set this one, where others hang on
                 it (a constant's value on its dtype); raises GradstepError where they cannot.
    broadcasts:  inputs broadcast; the differentiator sums gradients back to each input's shape.
    memory:      how results lie beside inputs: InPlace, Elementwise, View, Slices or Pieces
                 (result_memory.py).
    state:       what it touches besides: Writes, Counter, Resource, PerRun or just Stateful
                 (op_state.py).
    branch:      "switch": input 0 goes on at output 1 where input 1 is true, else at output 0; what
                 needs the other is dead, and does not run. "merge": the op runs when one of its
                 inputs is alive, and takes that. "trigger": it runs, whatever it waits for is dead.
                 "loop": what a Switch passes on by its output is alive whenever it is asked for.
    causes:      what is to blame for a NaN, an infinity or a 0 (result_causes.py).
    """
    specs = tuple(InputSpec.of(text) for text in inputs.split())
    forms = _forms(kernel, specs)
    subject, family = _place_of_caller()
    definition = OpDef(
        type=type,
        inputs=specs,
        outputs=tuple(name.removeprefix("&") for name in outputs.split()),
        aliases=outputs.startswith("&"),
        attrs=MappingProxyType(dict(attrs or {})),
        type_attrs=MappingProxyType(dict(type_attrs or {})),
        choices=MappingProxyType(dict(choices or {})),
        follow=MappingProxyType(dict(follow or {})),
        formula=formula,
        infer=refusing_bfloat16(
            type, as_declared(infer, specs, type_attrs or {}), type_attrs or {}
        ),
        kernel=forms,
        gradient=_declared(gradient),
        broadcasts=broadcasts,
        arithmetic=arithmetic or arithmetic_of(forms.ufunc),
        memory=memory or (Elementwise() if forms.ufunc else Memory()),
        state=state or State(),
        branch=branch,
        causes=causes or Causes(),
        subject=subject,
        family=family,
        python=tuple(python.split()),
        doc=doc,
        kinks=kinks,
        differs=differs,
        samples=samples,
    )
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


def _forms(kernel: Kernel | Kernels | None, inputs: Sequence[InputSpec]) -> Kernels:
    """The kernel's, the plain one called only with what handles among `inputs` are to lead to."""
    given = kernel.plain if isinstance(kernel, Kernels) else kernel
    plain = None if given is None else check_handles(given, inputs)
    if not isinstance(kernel, Kernels):
        return Kernels(plain)
    return kernel if plain is given else kernel.with_plain(plain)


def _declared(gradient: GradientRule | Gradient | None) -> Gradient:
    if gradient is None:
        return UNDECLARED
    return gradient if isinstance(gradient, Gradient) else Gradient(gradient)


def _place_of_caller() -> tuple[str, str]:
    """Folder and module that declare the op: its subject ("math") and family ("reduction")."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    module = "" if frame is None else str(frame.f_globals["__name__"])
    _, _, subject = module.rpartition(".")[0].rpartition(".")
    return subject, module.rpartition(".")[2]


__all__ = [
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
