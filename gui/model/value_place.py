"""Where a value that the user gives belongs: to a placeholder, a variable, or an attribute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.ops.typing.inference import is_unknown
from gradstep.gui.model.workspace import Workspace

HERE = "From here on, value of"


@dataclass(frozen=True)
class ValuePlace:
    """name: of the operation. words: what the value is, before the name ("Fed to"). kind: what it
    has to be. value: the one that the document has, if any. put: gives the document with another
    one; label, merge_key: of that edit. rows_are_free: whether the number of rows can be left open,
    as `with_any_rows` does. is_here: it is given where the debugger stands, on a branch, and the
    document stays as it is; at: to this part of the tensor alone ("[0, 1]")."""

    name: str
    words: str
    kind: TensorType
    value: Constant | None
    put: Callable[[Document, Constant], Document]
    label: str
    merge_key: str
    rows_are_free: bool = False
    is_here: bool = False
    at: str = ""

    def with_any_rows(self) -> ValuePlace:
        """The same for any number of rows: with a value it gets a shape that says so."""

        def put(document: Document, value: Constant) -> Document:
            return self.put(document_edits.take_any_rows(document, self.name), value)

        kind = replace(self.kind, shape=self.kind.shape.any_rows())
        label = f"{self.label}, any number of rows"
        return replace(self, kind=kind, put=put, label=label, rows_are_free=False)


def place_of(workspace: Workspace, op: Operation) -> ValuePlace:
    """Of what is fed to a placeholder, what a variable starts with, or a constant's value."""
    dtype, shape = op.attrs.get("dtype", DType.FLOAT32), op.attrs.get("shape", Shape(None))
    if op.type == "Const":
        return attribute_place(op, "value", TensorType(dtype))
    if op.type == "Placeholder":
        place = fed_place(workspace, op.output(), TensorType(dtype, shape))
        return replace(place, rows_are_free=True)
    name = op.name
    return ValuePlace(
        name,
        "Initial value of",
        TensorType(dtype, shape),
        workspace.document.initial.get(name),
        lambda document, value: document_edits.set_initial(document, name, value),
        f"Initial value of {name}",
        f"initial:{name}",
    )


def place_here(workspace: Workspace, op: Operation) -> ValuePlace:
    """Of what a tensor or variable has from where the debugger stands on."""
    known = workspace.value(f"{op.name}:0")
    place = replace(place_of(workspace, op), words=HERE, value=None, is_here=True)
    if known is None or known.state != "known":
        return place
    kind = TensorType(DType(known.dtype), Shape(known.shape))
    whole = known.head.size == known.size
    value = Constant(known.head.reshape(known.shape)) if whole else None
    return replace(place, kind=kind, value=value)


def element_here(workspace: Workspace, ref: str, dtype: DType, index: Sequence[int]) -> ValuePlace:
    """Of an element of a tensor, likewise."""
    at = f"[{', '.join(map(str, index))}]" if index else ""
    name = TensorRef.parse(ref).short
    op = Operation(TensorRef.parse(ref).op, "", attrs={"dtype": dtype, "shape": Shape(())})
    return replace(place_of(workspace, op), name=name, words=HERE, is_here=True, value=None, at=at)


def fed_place(workspace: Workspace, ref: TensorRef, kind: TensorType | None = None) -> ValuePlace:
    """Of what is fed to a tensor, of any shape where its type is unknown."""
    if kind is None and not is_unknown(workspace.document.graph[ref.op]):
        kind = workspace.inference.types.get(ref)
    return ValuePlace(
        ref.op,
        "Fed to",
        kind or TensorType(DType.FLOAT32),
        workspace.document.feeds.get(str(ref)),
        lambda document, value: document_edits.set_feed(document, str(ref), value),
        f"Feed {ref}",
        f"feed:{ref}",
    )


def attribute_place(op: Operation, key: str, kind: TensorType) -> ValuePlace:
    """Of an attribute that is a tensor."""
    name, value = op.name, op.attrs.get(key)
    return ValuePlace(
        name,
        "Value of",
        kind,
        value if isinstance(value, Constant) else None,
        lambda document, value: document_edits.set_attr(document, name, key, value),
        f"Set {name}.{key}",
        f"attr:{name}:{key}",
    )
