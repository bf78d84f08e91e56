"""Edits of a document by a name and what they are about: as branches, `why` and lints make them.

So an edit can be tried before it is made, kept with a branch, sent to the engine and made in the
window, and is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.document import document_edits
from gradstep.core.document.attribute_text import read_attr
from gradstep.core.document.document import Document
from gradstep.core.document.lint_remedies import LABELS, mend
from gradstep.core.document.optimizer_labels import TEXTS, set_optimizer
from gradstep.core.document.repairs import REPAIR_WORDS, REPAIRS
from gradstep.core.engine.run.feed_values import instead_of, missing_tensor
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere, tensor_carried
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.graph.suggestions import instead
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.flatten_loops import flatten_loops, original_edge

MakeEdit = Callable[[Document, Sequence[str]], Document]


def edit_by_name(document: Document, kind: str, names: Sequence[str]) -> Document:
    """The document after the edit; the same where there is nothing left to do. Raises GradstepError
    for a kind that there is not, and for what cannot be."""
    edit = _EDITS.get(kind)
    try:
        return mend(document, kind, names) if edit is None else edit(document, names)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        # Names that are another edit's, or of operations that have become others.
        raise GradstepError(
            f"the edit '{kind}' is not about {', '.join(names)}",
            kind="ValueError",
            hint="the graph is another one than the edit was made for",
        ) from error


def words_of(kind: str, names: Sequence[str]) -> str:
    """What the edit does, in a few words, as a branch is told by it."""
    words = _WORDS.get(kind)
    return f"{kind} {' '.join(names)}" if words is None else words(*names)


def label_of(kind: str, names: Sequence[str]) -> str:
    """What the edit does, as a button and an undo step say it."""
    if kind in LABELS:
        return LABELS[kind]
    said = _LABELS.get(kind)
    return words_of(kind, names) if said is None else said(*names)


def _settings(label: str, settings: Sequence[str]) -> list[str]:
    pairs = zip(settings[::2], settings[1::2], strict=False)
    return [
        f"{label}.{key} = {text or ('none' if key in TEXTS else 'default')}" for key, text in pairs
    ]


_LABELS: Mapping[str, Callable[..., str]] = {
    "override": lambda gradient, target, _: f"Let {target} have the gradient of {gradient}",
    "native": lambda name: f"Give {name} its own gradient",
    "set": lambda name, key, text: f"Set {name}.{key} to {text}",
    "stop": lambda at: f"Stop the gradient at {at}",
    "hyper": lambda label, *settings: f"Set {', '.join(_settings(label, settings))}",
}


def _stop(document: Document, names: Sequence[str]) -> Document:
    """At a tensor ("a:0", or "a" for its first output) or a wire ("a<1")."""
    (at,) = names
    request = document_edits.asking(document)
    if "<" in at:
        wire = original_edge(document.graph, Edge.parse(at))
        if tensor_carried(document.graph, wire) is None:
            raise GradstepError("this input carries no wire", kind="ValueError", node=wire.op)
        wires = request.stopped_edges | {wire}
        return document.with_(request=replace(request, stopped_edges=wires))
    ref = TensorRef.parse(at)
    anywhere(document.graph, ref.op)
    whole = flatten_loops(document.graph)
    if missing := missing_tensor(whole, ref):
        raise GradstepError(missing, kind="KeyError", node=ref.op, hint=instead_of(whole, ref))
    return document.with_(request=replace(request, stops=request.stops | {ref}))


def _override(document: Document, names: Sequence[str]) -> Document:
    """A gradient's name, what it takes the place of, and which kind of thing that is."""
    gradient, target, kind = names
    if kind == OverrideKind.OP:
        anywhere(document.graph, target)
    return document_edits.set_override(document, Override(gradient, target, OverrideKind(kind)))


def _native(document: Document, names: Sequence[str]) -> Document:
    (name,) = names
    return document_edits.use_native(document, name)


def _set(document: Document, names: Sequence[str]) -> Document:
    """An operation, an attribute of it, and its value as text."""
    name, key, text = names
    op = anywhere(document.graph, name)
    definition = find(op.type)
    declared = {} if definition is None else definition.attrs
    if key not in op.attrs and key not in declared:
        raise GradstepError(
            f"'{name}' ({op.type}) has no attribute '{key}'",
            kind="KeyError",
            node=name,
            hint=instead(key, sorted({*op.attrs, *declared})),
        )
    like = op.attrs.get(key, declared.get(key))
    return document_edits.set_attr(document, name, key, read_attr(text, like))


def _hyper(document: Document, names: Sequence[str]) -> Document:
    """An optimizer, a setting of it, and its value as text; perhaps more settings and values."""
    label, *settings = names
    for key, text in zip(settings[::2], settings[1::2], strict=True):
        document = set_optimizer(document, label, key, text)
    return document


_EDITS: Mapping[str, MakeEdit] = {
    "hyper": _hyper,
    "stop": _stop,
    "override": _override,
    "native": _native,
    "set": _set,
    **REPAIRS,
}
_WORDS: Mapping[str, Callable[..., str]] = {
    "stop": lambda at: f"stop {at.removesuffix(':0')}",
    "unstop": lambda at: f"no stop {at.removesuffix(':0')}",
    "override": lambda gradient, target, kind: f"{target} by {gradient}",
    "unbend": lambda gradient, target, kind: f"{target} not by {gradient}",
    "native": lambda name: f"{name} native",
    "hyper": lambda label, *settings: ", ".join(_settings(label, settings)),
    "set": lambda name, key, text: f"{name}.{key} = {text}",
    **REPAIR_WORDS,
}
