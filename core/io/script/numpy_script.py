"""A document as a script for NumPy alone: its values by formulas, its gradients by differences too.

Of a gradient what is in force is written: the ops' own rules, or the document's functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import PYTHON_OPS, Operation, TensorRef
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
from gradstep.core.io.script.numpy_helpers import HELPERS, INSTEAD, used_helpers
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.build.tensor import call_many
from gradstep.core.ops.declare.formula_text import formula_text

WHAT = "a script for NumPy"
_PULL = "gradient function "  # before the name of one that an operation of the script calls
_RESERVED = ("np", "types", "compute", "pulled", "pulled_arrays", *HELPERS)


def to_numpy(document: Document) -> bytes:
    """The script, as UTF-8. Raises GradstepError for what it cannot hold."""
    script = _Script(document)
    body = [*script.lines()]
    used = own.helpers(script.items)
    parts = [head(document), "", "import types", "", "import numpy as np", ""]
    parts += ['np.seterr(all="ignore")', *used_helpers(body), *used]
    parts += [*own.sources(document, script.operations, WHAT), "", *body]
    return ("\n".join(parts) + "\n").encode()


class _Script:
    def __init__(self, document: Document) -> None:
        self.document, self.names = document, Names(_RESERVED)
        self.given = given_values(document)
        self.ends = asked_ends(document)
        self.operations = needed_operations(document.graph, self.ends, self.given)
        self.items = [own.overriding(document, op) for op in self.operations]
        self.derived = _derived(document)
        graph = document.graph if self.derived is None else self.derived.graph
        there = document.graph
        self._pulls = {op.name for op in graph if op.name not in there and "counts" in op.attrs}

    def lines(self) -> Iterator[str]:
        """All but the functions."""
        wanted = self.document.graph.ancestors([ref.op for ref in (*self.ends, *self._starts())])
        roots = [ref for ref in self.given if ref.op in wanted]
        yield from (f"{self.names[ref]} = {array_text(self.given[ref])}" for ref in roots)
        passed = [ref for ref in roots if ref not in self._starts()]
        arguments = ", ".join(self.names[ref] for ref in passed)
        yield from ("", "", f"def compute({arguments}):")
        yield from (f"    {line}" for op in self.operations for line in self._statement(op))
        results = [*dict.fromkeys((*self.ends, *self._outputs()))]
        yield f"    return {', '.join(self.names[ref] for ref in results)}"
        yield from ("", "")
        yield f"{', '.join(self.names[ref] for ref in results)} = compute({arguments})"
        yield from (f"print({ref.short!r}, {self.names[ref]})" for ref in self.ends)
        request = self.document.request
        if len(request.of) == 1 and request.wrt:
            yield from self._gradients(results, passed)

    def _starts(self) -> list[TensorRef]:
        return [ref for ref in self.document.request.grad_ys if ref is not None]

    def _outputs(self) -> list[TensorRef]:
        """What gradients read of the forward pass."""
        derived = self.derived
        if derived is None:
            return []
        forward = {op.name for op in self.operations}
        reads = (ref for op in self._backward(derived) for ref in input_refs(op))
        return [ref for ref in dict.fromkeys(reads) if ref.op in forward]

    def _statement(self, op: Operation) -> Iterator[str]:
        """Raises GradstepError for an op that no formula is known of."""
        inputs = [self.names[ref] for ref in input_refs(op)]
        require_first_outputs(op, self._pulls, WHAT)
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
        elif op.type == "Const":
            yield f"{self.names[op.output()]} = {array_text(op.attrs['value'].array)}"
        else:
            text = formula_text(op, inputs, HELPERS, WHAT)
            yield f"{self.names[op.output()]} = {text}"

    # -- gradients -------------------------------------------------------------------------------

    def _backward(self, derived: Differentiation) -> list[Operation]:
        """The operations of the gradient, in order."""
        ends = [derived.gradients[x] for x in derived.request.wrt if x in derived.gradients]
        names = derived.graph.ancestors([ref.op for ref in ends])
        return [
            op for op in derived.graph if op.name in names and op.name not in self.document.graph
        ]

    def _gradients(
        self, results: Sequence[TensorRef], passed: Sequence[TensorRef]
    ) -> Iterator[str]:
        derived, (y,) = self.derived, self.document.request.of
        assert derived is not None
        starts = self._starts()
        weights = self.names[starts[0]] if starts else "1.0"
        yield ""
        why = ""
        try:
            rules = [line for op in self._backward(derived) for line in self._statement(op)]
        except GradstepError as error:
            rules, why = [], error.message
            yield f"# the gradient by rules is left out: {why}"
        yield from rules
        at = f"[{', '.join(self.names[ref] for ref in passed)}]"
        place = results.index(y)
        first = "compute" if len(results) == 1 else f"lambda *x: compute(*x)[{place}]"
        for x in self.document.request.wrt:
            holder = derived.gradients.get(x)
            text = "None" if holder is None else self.names[holder]
            if not why:
                yield f"print({f'gradient by {x.short}'!r}, {text})"
            if x in passed and self.given[x].dtype.kind == "f":
                call = f"differences({first}, {at}, {passed.index(x)}, {weights})"
                yield f"print({f'by differences, {x.short}'!r}, {call})"


def _derived(document: Document) -> Differentiation | None:
    """With the document's functions as operations that call them; None without gradients."""
    request = document.request
    if len(request.of) != 1 or not request.wrt:
        return None
    kinds = (CodeKind.GRADIENT, CodeKind.NUMPY_GRADIENT)
    items = (item for item in document.code.values() if item.kind in kinds)
    return differentiate(document.graph, request, {item.name: _stub(item) for item in items})


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
