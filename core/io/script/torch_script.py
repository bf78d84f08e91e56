"""A document as a script for PyTorch: its values, its gradients by autograd, and by differences.

What the document puts in the place of an operation's gradient is a torch.autograd.Function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import gradient_name
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import PYTHON_OPS, Edge, Operation, TensorRef
from gradstep.core.io.script import array_functions as own
from gradstep.core.io.script.flat_graph import (
    FlatScript,
    array_text,
    head,
    input_refs,
    require_first_outputs,
)
from gradstep.core.io.script.torch_expressions import EXPRESSIONS, ZERO_IN_TORCH
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.typing.inference import infer_declared

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
            ends.append((function(*given) * weights).detach().sum())
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found.numpy()
'''
_GRADIENTS = '''
def gradients(ys, xs, weights):
    """What tf.gradients gives: None where no way leads back."""
    ways = [(y, w.detach()) for y, w in zip(ys, weights) if y.requires_grad]
    free = [x for x in xs if x.requires_grad] if ways else []
    if not free:
        return [None] * len(xs)
    ends, given = zip(*ways)
    found = iter(torch.autograd.grad(ends, free, given, allow_unused=True))
    return [next(found) if x.requires_grad else None for x in xs]
'''
_HELPERS = {"over(": _OVER, "differences(": _DIFFERENCES, "gradients(": _GRADIENTS}
_OTHER_FORMATS = "write one for TensorFlow (.py), which has every operation"
_ROUNDS = "# PyTorch's gradient of {} is 0; TensorFlow has none there."
_RESERVED = (
    "np",
    "torch",
    "types",
    "compute",
    "over",
    "differences",
    "gradients",
    "found",
    *own.NAMES,
)


def to_torch(document: Document) -> bytes:
    """The script, as UTF-8. Raises GradstepError for what it cannot hold."""
    script = _Script(document)
    body, classes = [*script.lines()], [*script.classes()]
    used = "\n".join((*body, *classes))
    parts = [head(document), "", "import types", "", "import numpy as np", "import torch", ""]
    parts += [text for name, text in _HELPERS.items() if name in used]
    parts += [*own.helpers(script.items.values()), *script.sources()]
    parts += [*classes, "", *body]
    return ("\n".join(parts) + "\n").encode()


class _Script(FlatScript):
    def __init__(self, document: Document) -> None:
        super().__init__(document, WHAT, (*_RESERVED, *own.taken(document)))
        self.items = {op.name: self._item(op) for op in self.operations}
        self._types = infer_declared(document.graph).types
        self._require_free()

    def _item(self, op: Operation) -> CodeItem | None:
        """The gradient in force that is none of PyTorch's. Raises GradstepError for one of another
        op type, but for Identity's."""
        request = self.document.request
        item = own.overriding(self.document, op)
        name = gradient_name(op, request.overrides)
        if item is None and name == "Identity" != op.type and len(op.inputs) == 1:
            return own.STRAIGHT
        if item is None and name != op.type and request.wrt:
            raise GradstepError(
                f"the gradient of '{op.name}' is {name}'s, which cannot be written as {WHAT}",
                kind="ValueError",
                node=op.name,
                hint=_OTHER_FORMATS,
            )
        return item

    def _require_free(self) -> None:
        """Raises GradstepError where a gradient goes through what is fed and computed, too: a given
        tensor is where autograd ends."""
        graph, wrt = self.document.graph, {ref.op for ref in self.document.request.wrt}
        for ref in self.roots:
            if graph[ref.op].inputs and not wrt.isdisjoint(graph.ancestors([ref.op]) - {ref.op}):
                raise GradstepError(
                    f"a gradient goes through '{ref.op}', which is fed, and cannot be written as "
                    f"{WHAT}",
                    kind="ValueError",
                    node=ref.op,
                    hint=_OTHER_FORMATS,
                )

    def sources(self) -> Iterator[str]:
        return own.sources(self.document, self.operations, self.items.values(), WHAT)

    def root(self, ref: TensorRef) -> str:
        asked = ", requires_grad=True" if self._is_asked(ref) else ""
        return f"torch.tensor({array_text(self.given[ref])}{asked})"

    def shown(self, ref: TensorRef) -> str:
        return f"{self.names[ref]}.detach().numpy()"

    def read_of_function(self) -> Iterable[TensorRef]:
        return (*self.starts, *self.document.request.wrt)

    def gradients(self) -> Iterator[str]:
        request, names = self.document.request, self.names
        own_rule = (op.type for op in self.operations if self.items[op.name] is None)
        yield from map(_ROUNDS.format, dict.fromkeys(filter(ZERO_IN_TORCH.__contains__, own_rule)))
        weights = [
            f"torch.ones_like({names[y]})" if start is None else names[start]
            for y, start in zip_longest(request.of, request.grad_ys)
        ]
        ys, xs = (", ".join(names[ref] for ref in refs) for refs in (request.of, request.wrt))
        yield f"found = gradients([{ys}], [{xs}], [{', '.join(weights)}])"
        for number, x in enumerate(request.wrt):
            found = f"found[{number}]"
            none = f"np.zeros({names[x]}.shape)" if request.unconnected_zero else found
            value = f"{none} if {found} is None else {found}.numpy()"
            yield f"print({f'gradient by {x.short}'!r}, {value})"
            yield from self.differences(x, weights[0])

    def _is_asked(self, ref: TensorRef) -> bool:
        """Whether PyTorch is to have a gradient with respect to it."""
        is_float = ref in self._types and self._types[ref].dtype.is_floating
        return is_float and ref in self.document.request.wrt

    # -- operations ------------------------------------------------------------------------------

    def statement(self, op: Operation) -> Iterator[str]:
        refs, output = input_refs(op), op.output()
        require_first_outputs(refs, (), WHAT)
        inputs = [self._read(op, number, ref) for number, ref in enumerate(refs)]
        item, name = self.items[op.name], self.names[output]
        at = f"{own.called(item)}at_{name}.apply({', '.join(inputs)})" if item else ""
        yield f"{name} = {at or self._expression(op, inputs)}"
        if output in self.document.request.stops:
            yield f"{name} = {name}.detach()"
        if self._is_asked(output):
            yield f"{name} = {name}.clone().requires_grad_()"  # no other name for the same tensor

    def _read(self, op: Operation, number: int, ref: TensorRef) -> str:
        is_stopped = Edge(op.name, number) in self.document.request.stopped_edges
        return f"{self.names[ref]}.detach()" if is_stopped else self.names[ref]

    def _expression(self, op: Operation, inputs: Sequence[str]) -> str:
        """Raises GradstepError for an operation that has none here."""
        if op.type in PYTHON_OPS:
            function = own.called(own.function_of(self.document, op))
            arrays = ", ".join(f"{text}.detach().numpy()" for text in inputs)
            return f"torch.as_tensor(np.asarray({function}({arrays})))"
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
                hint=_OTHER_FORMATS,
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
        for op in self.operations:
            if (item := self.items[op.name]) is not None:
                yield from self._class(op, item)

    def _class(self, op: Operation, item: CodeItem) -> Iterator[str]:
        count = len(input_refs(op))
        names = [f"x{number}" for number in range(count)]
        arrays = item.kind is CodeKind.NUMPY_GRADIENT
        numpy = ".detach().numpy()" if arrays else ""
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
