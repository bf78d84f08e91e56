"""A document as a script for NumPy alone: its values by formulas, its gradients by differences too.

Of a gradient what is in force is written: the ops' own rules, or the document's functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.document.document import CodeItem, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import PYTHON_OPS, Graph, Operation, TensorRef
from gradstep.core.io.script import array_functions as own
from gradstep.core.io.script.flat_graph import (
    FlatScript,
    array_text,
    head,
    input_refs,
    plain,
    require_first_outputs,
)
from gradstep.core.io.script.numpy_helpers import HELPERS, INSTEAD, WHOLE, used_helpers
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.build.tensor import call_many
from gradstep.core.ops.declare.formula_text import formula_text
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.tensor_type_dict import outputs_of

WHAT = "a script for NumPy"
_PULL = "gradient function "  # before the name of one that an operation of the script calls
_SECOND = {  # what output 1 is that gradients of these read: of the loss by logits
    "SoftmaxCrossEntropyWithLogits": "softmax({0}) - {1}",
    "SparseSoftmaxCrossEntropyWithLogits": "softmax({0}) - one_hot({1}, np.shape({0})[-1], -1)",
}
_RESERVED = ("np", "types", "compute", *own.NAMES, *HELPERS)


def to_numpy(document: Document) -> bytes:
    """The script, as UTF-8. Raises GradstepError for what it cannot hold."""
    script = _Script(document)
    body = [*script.lines()]
    used = own.helpers(script.items)
    wide = ["import ml_dtypes  # NumPy's bfloat16"] if any("bfloat16" in x for x in body) else []
    parts = [head(document), "", "import types", "", *wide, "import numpy as np", ""]
    parts += ['np.seterr(all="ignore")', *used_helpers(body), *used]
    parts += [*own.sources(document, script.operations, script.items, WHAT), "", *body]
    return ("\n".join(parts) + "\n").encode()


class _Script(FlatScript):
    def __init__(self, document: Document) -> None:
        super().__init__(document, WHAT, (*_RESERVED, *own.taken(document)), WHOLE)
        self.items = [own.overriding(document, op) for op in self.operations]
        self.derived = _derived(document)
        self.backward = _backward(self.derived, document.graph)
        self._pulls = {op.name for op in self.backward if "counts" in op.attrs}
        self.whole |= {op.name for op in self.backward if op.type in WHOLE} | self._pulls
        self.whole |= {op.name for op in self.operations if op.type in _SECOND}
        self.read |= {ref for op in self.backward for ref in input_refs(op)}
        self.read |= {*self.derived.gradients.values()} if self.derived is not None else set()
        for ref in (*self.roots, *(op.output() for op in self.operations)):
            _ = self.names[ref]  # before those of gradients, which may be as long

    def root(self, ref: TensorRef) -> str:
        return array_text(self.given[ref])

    def shown(self, ref: TensorRef) -> str:
        return self.names[ref]

    def read_of_function(self) -> Iterable[TensorRef]:
        yield from self.starts
        lines, _ = self._rules
        if lines:
            yield from (ref for op in self.backward for ref in input_refs(op))

    def statement(self, op: Operation) -> Iterator[str]:
        inputs = [self.names[ref] for ref in input_refs(op)]
        require_first_outputs(input_refs(op), self.whole, WHAT)
        token = str(op.attrs.get("token", ""))
        if op.name in self._pulls:
            item, counts = self.document.code[token[len(_PULL) :]], op.attrs["counts"]
            grads, read, outputs = _parts(inputs, counts)
            targets = [self.names[TensorRef(op.name, i)] for i in range(len(op.attrs["Tout"]))]
            places = op.attrs["places"]
            pulled = own.pull_call(item, read, outputs, grads)
            yield f"_pulled = {pulled}"
            yield from (f"{n} = _pulled[{p}]" for n, p in zip(targets, places, strict=True))
        elif op.type in PYTHON_OPS:
            function = own.called(own.function_of(self.document, op))
            yield f"{self.names[op.output()]} = {function}({', '.join(inputs)})"
        elif op.type in INSTEAD:
            yield f"{self.names[op.output()]} = {INSTEAD[op.type].format(*inputs)}"
        elif op.type in WHOLE:
            definition = lookup(op.type, op.name)
            attrs = {name: definition.attr(op, name) for name in definition.attrs}
            yield f"{self.targets(self._outputs(op))} = {WHOLE[op.type].format(*inputs, **attrs)}"
        elif op.type == "Const":
            yield f"{self.names[op.output()]} = {array_text(op.attrs['value'].array)}"
        else:
            text = formula_text(op, inputs, HELPERS, WHAT)
            yield f"{self.names[op.output()]} = {text}"
            if op.type in _SECOND and (second := op.output(1)) in self.results:
                yield f"{self.names[second]} = {_SECOND[op.type].format(*inputs)}"

    def _outputs(self, op: Operation) -> list[TensorRef]:
        graph = self.document.graph if self.derived is None else self.derived.graph
        return outputs_of(graph, self._types, op.name)

    @cached_property
    def _types(self) -> Mapping[TensorRef, TensorType]:
        graph = self.document.graph if self.derived is None else self.derived.graph
        return infer_declared(graph).types

    @cached_property
    def _rules(self) -> tuple[list[str], str]:
        """Lines that compute the gradients, by the rules in force; and why there are none."""
        try:
            return [line for op in self.backward for line in self.statement(op)], ""
        except GradstepError as error:
            return [], plain(error.message)

    def gradients(self) -> Iterator[str]:
        derived = self.derived
        assert derived is not None
        weights = self.names[self.starts[0]] if self.starts else "1.0"
        rules, why = self._rules
        if why:
            yield f"# the gradient by rules is left out: {why}"
        yield from rules
        for x in self.document.request.wrt:
            holder = derived.gradients.get(x)
            text = "None" if holder is None else self.names[holder]
            if not why:
                yield f"print({f'gradient by {x.short}'!r}, {text})"
            yield from self.differences(x, weights)


def _derived(document: Document) -> Differentiation | None:
    """With the document's functions as operations that call them; None without gradients."""
    request = document.request
    if not request.of or not request.wrt:
        return None
    items = (item for item in document.code.values() if item.kind in own.GRADIENTS)
    return differentiate(document.graph, request, {item.name: _stub(item) for item in items})


def _backward(derived: Differentiation | None, forward: Graph) -> list[Operation]:
    """The operations of the gradient, in order."""
    if derived is None:
        return []
    ends = [derived.gradients[x] for x in derived.request.wrt if x in derived.gradients]
    names = derived.graph.ancestors([ref.op for ref in ends])
    return [op for op in derived.graph if op.name in names and op.name not in forward]


def _parts(inputs: Sequence[str], counts: Sequence[int]) -> list[str]:
    """The texts of gradients, inputs and outputs, as lists."""
    ends = np.cumsum([0, *counts]).tolist()
    return [f"[{', '.join(inputs[a:b])}]" for a, b in pairwise(ends)]


def _stub(item: CodeItem) -> GradientFunction:
    """A gradient function that makes an operation which calls the document's one."""

    def gradient(op: OpView, *grads: Tensor) -> list[Tensor | None]:
        inputs, outputs = op.inputs, op.outputs
        places = [i for i, x in enumerate(inputs) if x.dtype.is_floating]
        made = call_many(
            "PyFunc",
            *grads,
            *inputs,
            *outputs,
            token=f"{_PULL}{item.name}",
            Tout=tuple(inputs[i].dtype for i in places),
            shapes=tuple(inputs[i].shape for i in places),
            places=tuple(places),
            counts=(len(grads), len(inputs), len(outputs)),
        )
        found = dict(zip(places, made, strict=True))
        return [found.get(i) for i in range(len(inputs))]

    return gradient
