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
from gradstep.core.io.script.torch_expressions import EXPRESSIONS, WHOLE, ZERO_IN_TORCH
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.tensor_type_dict import outputs_of

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
_PIECES = '''
def pieces(x, sizes, axis):
    """Of the given sizes; -1 is what is left."""
    left = x.shape[axis] - sum(size for size in sizes if size >= 0)
    return torch.split(x, [left if size < 0 else size for size in sizes], axis)
'''
_STRIDED = '''
def strided(x, index):
    """x[index] as NumPy has it, with steps below 0."""
    places = np.arange(x.numel()).reshape(tuple(x.shape))[index]
    return x.reshape(-1)[torch.as_tensor(places.copy())]
'''
_NORM = '''
def batch_norm(x, scale, offset, mean, variance, epsilon, part, data_format, training):
    """The images, the running averages, the mean and variance that were used, and nothing."""
    channel = 1 if data_format.startswith("NC") else x.ndim - 1
    image, mean, variance = torch.movedim(x, channel, 1), mean.detach(), variance.detach()
    running, given = (mean, variance), (mean, variance)
    if training:
        axes = [axis for axis in range(x.ndim) if axis != 1]
        wide, given = image.detach().to(scale.dtype), (None, None)
        variance, mean = torch.var_mean(wide, axes, correction=0)
        count = x.numel() // max(mean.numel(), 1)
        news = mean, variance * (count / max(count - 1, 1))
        mixed = [old * (1 - part) + new * part for old, new in zip(running, news) if part != 1]
        running = mixed or news
    y = torch.batch_norm(image, scale, offset, *given, training, 0.0, epsilon, False)
    return torch.movedim(y, 1, channel), *running, mean, variance, mean.new_zeros(())
'''
_HELPERS = {
    "pieces(": _PIECES,
    "strided(": _STRIDED,
    " batch_norm(": _NORM,
    "over(": _OVER,
    "differences(": _DIFFERENCES,
    "gradients(": _GRADIENTS,
}
_OTHER_FORMATS = "write one for TensorFlow (.py), which has every operation"
_MASKS = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
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
    "pieces",
    "strided",
    "batch_norm",
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
        super().__init__(document, WHAT, (*_RESERVED, *own.taken(document)), WHOLE)
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
        refs, item = input_refs(op), self.items[op.name]
        require_first_outputs(refs, self.whole, WHAT)
        inputs = [self._read(op, number, ref) for number, ref in enumerate(refs)]
        outputs = [op.output()]
        if op.type in WHOLE:
            outputs = outputs_of(self.document.graph, self._types, op.name)
            if item is not None:
                raise GradstepError(
                    f"a gradient of {op.type} by a function cannot be written as {WHAT}",
                    kind="ValueError",
                    node=op.name,
                    hint=_OTHER_FORMATS,
                )
        target = self.targets(outputs) if op.type in WHOLE else self.names[outputs[0]]
        at = f"{own.called(item)}at_{target}.apply({', '.join(inputs)})" if item else ""
        yield f"{target} = {at or self._expression(op, inputs)}"
        for output in filter(self.read.__contains__, outputs):  # the others have no name
            name = self.names[output]
            if output in self.document.request.stops:
                yield f"{name} = {name}.detach()"
            if self._is_asked(output):
                yield f"{name} = {name}.clone().requires_grad_()"  # no other name for the same one

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
        if op.type == "StridedSlice":
            return self._part(op, inputs[0])
        text = EXPRESSIONS.get(op.type) or WHOLE.get(op.type)
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

    def _part(self, op: Operation, text: str) -> str:
        """A tensor with an index. Raises GradstepError where that is computed."""
        begin, end, strides = (self._numbers(op, number) for number in (1, 2, 3))
        masks = {name: lookup(op.type).attr(op, f"{name}_mask") for name in _MASKS}
        parts = []
        for place, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
            has = {name for name, mask in masks.items() if mask >> place & 1}
            if "ellipsis" in has:
                parts.append("...")
            elif "new_axis" in has:
                parts.append("None")
            elif "shrink_axis" in has:
                parts.append(str(first))
            else:
                ends = "" if "begin" in has else first, "" if "end" in has else last
                parts.append(f"{ends[0]}:{ends[1]}{'' if step == 1 else f':{step}'}")
        index = ", ".join(parts) or "..."
        turned = any(step < 0 for step in strides)
        return f"strided({text}, np.s_[{index}])" if turned else f"{text}[{index}]"

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
