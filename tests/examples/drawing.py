"""Drawing an example: its graph, the values it starts with, and where its nodes stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from inspect import cleandoc
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.document.document import CodeItem, CodeKind, Document, View
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

Places = Mapping[str, tuple[float, float]]  # node -> centre, scene units

COLUMN, ROW = 216.0, 96.0  # from a node to the next


class Drawing:
    """A graph under construction (`g`), what its variables start with and what is fed to it."""

    def __init__(self) -> None:
        self.g = GraphBuilder()
        self.initial: dict[str, Constant] = {}
        self.feeds: dict[str, Constant] = {}
        self.code: dict[str, CodeItem] = {}

    # -- values ------------------------------------------------------------------------------

    def variable(self, name: str, value: Any, dtype: str = "float32") -> Tensor:
        """A ref variable, as tf.Variable makes it in TensorFlow 1."""
        start = constant(value, dtype)
        made = self.g.variable(name, dtype, start.array.shape)
        self.initial[made.ref.op] = start
        return made

    def resource(self, name: str, value: Any, dtype: str = "float32") -> Tensor:
        """The handle of a resource variable, as tf.Variable(use_resource=True) makes it."""
        start = constant(value, dtype)
        shape = Shape(start.array.shape)
        made = self.g.one("VarHandleOp", name=name, dtype=DType(dtype), shape=shape)
        self.initial[made.ref.op] = start
        return made

    def read(self, handle: Tensor, name: str, after: Iterable[str] = ()) -> Tensor:
        """What a resource variable holds once the operations `after` have run."""
        kind = DType.of(self.initial[handle.ref.op].array.dtype)
        return self.g.op(
            "ReadVariableOp", handle, name=name, control_inputs=tuple(after), dtype=kind
        )[0]

    def fed(self, name: str, value: Any, dtype: str = "float32", shape: Any = None) -> Tensor:
        """A placeholder with a value; its shape is the value's unless `shape` says less."""
        given = constant(value, dtype)
        made = self.g.placeholder(name, dtype, given.array.shape if shape is None else shape)
        self.feeds[str(made.ref)] = given
        return made

    def sum(self, x: Tensor, name: str) -> Tensor:
        """The sum of all elements; the axes are a constant of that name beside it."""
        return self._over_all("Sum", x, name)

    def mean(self, x: Tensor, name: str) -> Tensor:
        """The mean of all elements, in the same way."""
        return self._over_all("Mean", x, name)

    def _over_all(self, type: str, x: Tensor, name: str) -> Tensor:
        rank = len(x.shape.dims or ())
        axes = self.g.constant(0 if rank == 1 else np.arange(rank), "int32", name="axes")
        return self.g.one(type, x, axes, name=name)

    # -- custom Python -----------------------------------------------------------------------

    def gradient(self, name: str, source: str) -> None:
        """A gradient function f(op, *grads) for overrides to name."""
        self.code[name] = CodeItem(name, CodeKind.GRADIENT, source)

    def python(self, token: str, source: str, *inputs: Tensor, name: str, **attrs: Any) -> Tensor:
        """A call of a function of NumPy arrays, as tf.py_func makes it; one result, like the first
        input."""
        self.code[token] = CodeItem(token, CodeKind.PYFUNC, source)
        return self.g.one(
            "PyFunc",
            *inputs,
            name=name,
            token=token,
            Tin=tuple(x.dtype for x in inputs),
            Tout=(inputs[0].dtype,),
            shapes=(inputs[0].shape,),
            **attrs,
        )

    # -- the document ------------------------------------------------------------------------

    def document(
        self,
        title: str,
        note: str,
        picture: str | Places = "",
        *,
        of: str = "",
        wrt: str = "",
        collapsed: str = "",
        fetches: str = "",
        request: dict[str, Any] | None = None,
        **rest: Any,
    ) -> Document:
        """picture: where the nodes stand, as places or as `placed` reads it; without one, automatic
        layout. of, wrt, collapsed, fetches: names, separated by spaces. request: what else the
        gradients are asked for with."""
        asked = GradientRequest(_refs(of), _refs(wrt), **(request or {}))
        return Document(
            graph=self.g.build(),
            request=asked,
            initial=self.initial,
            feeds=self.feeds,
            code=self.code,
            fetches=_refs(fetches),
            title=title,
            note=_written(note),
            view=View(
                placed(picture) if isinstance(picture, str) else picture,
                frozenset(collapsed.split()),
            ),
            **rest,
        )


def constant(value: Any, dtype: str = "float32") -> Constant:
    return Constant(np.asarray(value, DType(dtype).numpy))


def override_type(gradient: str, type: str) -> Override:
    return Override(gradient, type, OverrideKind.TYPE)


def override_op(gradient: str, op: str) -> Override:
    return Override(gradient, op, OverrideKind.OP)


def placed(picture: str) -> dict[str, tuple[float, float]]:
    """Places from a drawing in text: each line is a row, each word a node's name in the next
    column. `.` leaves a column free; an empty line moves half a row down."""
    places: dict[str, tuple[float, float]] = {}
    y = 0.0
    for line in picture.strip("\n").splitlines():
        words = line.split()
        for column, word in enumerate(words):
            if word != ".":
                places[word] = (column * COLUMN, y)
        y += ROW if words else ROW / 2
    return places


def _written(note: str) -> str:
    """A note without the line breaks of its source: paragraphs and list items are one line; code
    between fences stays as it is."""
    lines: list[str] = []
    fenced = False
    for line in cleandoc(note).splitlines():
        fence = line.startswith("```")
        goes_on = line and lines and lines[-1] and not re.match(r"- |\d+\. |\|", line)
        if goes_on and not fenced and not fence:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
        fenced ^= fence
    return "\n".join(lines)


def _refs(names: str) -> tuple[TensorRef, ...]:
    return tuple(TensorRef.parse(name) for name in names.split())
