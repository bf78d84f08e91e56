"""A document as a script for PyTorch: its values, its gradients by autograd, and by differences.

What the document puts in the place of an operation's gradient is a torch.autograd.Function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import PYTHON_OPS, Edge, Operation, TensorRef
from gradstep.core.io.script import array_functions as own
from gradstep.core.io.script.flat_graph import (
    Names,
    array_text,
    asked_ends,
    given_values,
    head,
    input_refs,
    needed_operations,
    require_first_outputs,
)
from gradstep.core.io.script.torch_expressions import EXPRESSIONS, ZERO_IN_TORCH
from gradstep.core.ops.declare.table import lookup

WHAT = "a script for PyTorch"
_OVER = '''
def over(reduce, x, axes, keep):
    """A reduction over some axes; over none, all of it as it is."""
    return reduce(x, dim=tuple(axes), keepdim=keep) if axes else x
'''
_DIFFERENCES = '''
def differences(function, at, number, weights):
    """d(sum(function * weights)) / d(at[number]), by central differences in float64."""
    at = [x.detach().double() if x.is_floating_point() else x for x in at]
    found = torch.zeros(at[number].shape, dtype=torch.float64)
    for place in np.ndindex(tuple(found.shape)):
        here, ends = at[number][place], []
        step = 1e-6 * max(1.0, abs(float(here)))
        for sign in (1, -1):
            moved = at[number].clone()
            moved[place] = here + sign * step
            given = [*at[:number], moved, *at[number + 1 :]]
            ends.append((function(*given).detach() * weights).sum())
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found.numpy()
'''
_ROUNDS = "# PyTorch's gradient of {} is 0; TensorFlow has none there."
_RESERVED = ("np", "torch", "types", "compute", "over", "differences", "pulled", "pulled_arrays")


def to_torch(document: Document) -> bytes:
    """The script, as UTF-8. Raises GradstepError for what it cannot hold."""
    script = _Script(document)
    body, classes = [*script.lines()], [*script.classes()]
    used = "\n".join((*body, *classes))
    parts = [head(document), "", "import types", "", "import numpy as np", "import torch", ""]
    parts += [
        text for name, text in (("over(", _OVER), ("differences(", _DIFFERENCES)) if name in used
    ]
    parts += [*own.helpers(script.items), *own.sources(document, script.operations, WHAT)]
    parts += [*classes, "", *body]
    return ("\n".join(parts) + "\n").encode()


class _Script:
    def __init__(self, document: Document) -> None:
        self.document, self.names = document, Names(_RESERVED)
        self.given = given_values(document)
        self.ends = asked_ends(document)
        self.operations = needed_operations(document.graph, self.ends, self.given)
        self.items = [own.overriding(document, op) for op in self.operations]

    def lines(self) -> Iterator[str]:
        """All but functions and classes."""
        request = self.document.request
        starts = [ref for ref in request.grad_ys if ref is not None]
        wanted = self.document.graph.ancestors([ref.op for ref in (*self.ends, *starts)])
        roots = [ref for ref in self.given if ref.op in wanted]
        for ref in roots:
            asked = ", requires_grad=True" if ref in request.wrt else ""
            yield f"{self.names[ref]} = torch.tensor({array_text(self.given[ref])}{asked})"
        passed = [ref for ref in roots if ref not in starts]
        arguments = ", ".join(self.names[ref] for ref in passed)
        yield from ("", "", f"def compute({arguments}):")
        yield from (f"    {self._statement(op)}" for op in self.operations)
        results = ", ".join(self.names[ref] for ref in self.ends)
        yield f"    return {results}"
        yield from ("", "", f"{results} = compute({arguments})")
        for ref in self.ends:
            yield f"print({ref.short!r}, {self.names[ref]}.detach().numpy())"
        if len(request.of) == 1 and request.wrt:
            yield from self._gradients(passed, starts)

    def _gradients(self, passed: Sequence[TensorRef], starts: Sequence[TensorRef]) -> Iterator[str]:
        (y,), wrt = self.document.request.of, self.document.request.wrt
        weights = self.names[starts[0]] if starts else f"torch.ones_like({self.names[y]})"
        yield ""
        yield from (_ROUNDS.format(op.type) for op in self.operations if op.type in ZERO_IN_TORCH)
        names = ", ".join(self.names[x] for x in wrt)
        yield (
            f"gradients = torch.autograd.grad([{self.names[y]}], [{names}], "
            f"grad_outputs=[{weights}], allow_unused=True) if {self.names[y]}.requires_grad else "
            f"[None] * {len(wrt)}"
        )
        at = f"[{', '.join(self.names[ref] for ref in passed)}]"
        place = self.ends.index(y)
        first = "compute" if len(self.ends) == 1 else f"lambda *x: compute(*x)[{place}]"
        for number, x in enumerate(wrt):
            found = f"gradients[{number}]"
            value = f"{found} if {found} is None else {found}.numpy()"
            yield f"print({f'gradient by {x.short}'!r}, {value})"
            if x in passed and self.given[x].dtype.kind == "f":
                call = f"differences({first}, {at}, {passed.index(x)}, {weights})"
                yield f"print({f'by differences, {x.short}'!r}, {call})"

    # -- operations ------------------------------------------------------------------------------

    def _statement(self, op: Operation) -> str:
        require_first_outputs(op, (), WHAT)
        inputs = [self._read(op, number, ref) for number, ref in enumerate(input_refs(op))]
        item = own.overriding(self.document, op)
        name = self.names[op.output()]
        if item is not None:
            return f"{name} = {own.called(item)}at_{name}.apply({', '.join(inputs)})"
        return f"{name} = {self._expression(op, inputs)}"

    def _read(self, op: Operation, number: int, ref: TensorRef) -> str:
        request, name = self.document.request, self.names[ref]
        is_stopped = ref in request.stops or Edge(op.name, number) in request.stopped_edges
        return f"{name}.detach()" if is_stopped and ref not in request.wrt else name

    def _expression(self, op: Operation, inputs: Sequence[str]) -> str:
        """Raises GradstepError for an operation that has none here."""
        if op.type in PYTHON_OPS:
            function = own.called(own.function_of(self.document, op))
            return f"{function}({', '.join(inputs)})"
        if op.type == "Cast":
            return f"{inputs[0]}.to(torch.{_torch_type(lookup(op.type).attr(op, 'DstT'))})"
        if op.type in ("GatherV2", "Gather"):
            axis = self._number(op, 2) if len(op.inputs) > 2 else 0
            flat = f"torch.index_select({inputs[0]}, {axis}, {inputs[1]}.reshape(-1).long())"
            ends = f"{inputs[0]}.shape[:{axis}]", f"{inputs[0]}.shape[{axis + 1}:]"
            return f"{flat}.reshape({ends[0]} + {inputs[1]}.shape + {ends[1]})"
        if op.type == "ConcatV2":
            axis = self._number(op, len(inputs) - 1)
            return f"torch.cat([{', '.join(inputs[:-1])}], {axis})"
        text = EXPRESSIONS.get(op.type)
        if text is None:
            raise GradstepError(
                f"{op.type} cannot be written as {WHAT}",
                kind="ValueError",
                node=op.name,
                hint="write one for TensorFlow (.py) or NumPy (.numpy.py)",
            )
        definition = lookup(op.type, op.name)
        attrs = {
            name: repr(definition.attr(op, name))
            for name in definition.attrs
            if f"{{{name}}}" in text
        }
        known = {
            f"i{n}": str(self._numbers(op, n)) for n in range(len(inputs)) if f"{{i{n}}}" in text
        }
        return text.format(*inputs, all=", ".join(inputs), **attrs, **known)

    def _numbers(self, op: Operation, number: int) -> list[int]:
        """An input that has to be known, such as axes. Raises GradstepError."""
        value = self.given.get(input_refs(op)[number])
        if value is None or value.dtype.kind not in "iu":
            raise GradstepError(
                f"{op.type} with axes or sizes that are computed cannot be written as {WHAT}",
                kind="ValueError",
                node=op.name,
            )
        return [int(x) for x in np.ravel(value)]

    def _number(self, op: Operation, number: int) -> int:
        """An input that has to be one number, such as an axis. Raises GradstepError."""
        found = self._numbers(op, number)
        if len(found) != 1:
            raise GradstepError(
                f"{op.type} takes one axis, not {len(found)}", kind="ValueError", node=op.name
            )
        return found[0]

    # -- gradients of the document's own ---------------------------------------------------------

    def classes(self) -> Iterator[str]:
        """One for each operation whose gradient is a function of the document."""
        for op, item in zip(self.operations, self.items, strict=True):
            if item is not None:
                yield from self._class(op, item)

    def _class(self, op: Operation, item: CodeItem) -> Iterator[str]:
        count = len(input_refs(op))
        names = [f"x{number}" for number in range(count)]
        arrays = item.kind is CodeKind.NUMPY_GRADIENT
        numpy = ".numpy()" if arrays else ""
        read = f"[x{numpy} for x in ctx.saved_tensors[:{count}]]"
        outputs = f"[x{numpy} for x in ctx.saved_tensors[{count}:]]"
        pulled = own.pull_call(item, read, outputs, f"[g{numpy} for g in grads]")
        tensors = (
            f"tuple(torch.as_tensor(np.asarray(g)) for g in {pulled})"
            if arrays
            else f"tuple({pulled})"
        )
        yield f"""

class {own.called(item)}at_{self.names[op.output()]}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, {", ".join(names)}):
        y = {self._expression(op, names)}
        ctx.save_for_backward({", ".join(names)}, y)
        return y

    @staticmethod
    def backward(ctx, *grads):
        return {tensors}
"""


def _torch_type(dtype: DType) -> str:
    return {"bool": "bool"}.get(dtype.value, dtype.value)
