"""What a setting sets in a document: an optimizer's own, the value of a node, an attribute.

`learning_rate` is of the optimizers (`train_1.learning_rate` of one among several), `w` the value
of a node (what a constant holds, a variable starts with, a placeholder is fed), `dropout.rate` an
attribute; `w:0` is the node where both have that name. A name that is none of these and stands in
another setting's value, as `{hidden}` does in `normal([4, {hidden}])`, is put in there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.optimizer_labels import optimizer_labels, with_number
from gradstep.core.document.value_edits import set_attr
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.declare.table import find
from gradstep.core.sweep.node_values import has_value, set_value
from gradstep.core.sweep.run_seed import seeded_text
from gradstep.core.sweep.setting_attributes import read_attribute
from gradstep.core.sweep.setting_syntax import Setting
from gradstep.core.train.optimizers import OPTIMIZERS, is_flag

BATCH = "batch"  # rows of a step: of the document's data, or of --data

_Put = Callable[[Document, str], Document]


def check_settings(document: Document, settings: Iterable[Setting], with_batch: bool) -> None:
    """Raises GradstepError (UsageError) for a name that nothing can be set by. with_batch: whether
    rows are fed that are not the document's."""
    every = [*settings]
    for setting in every:
        if with_batch and setting.name == BATCH:
            continue
        if _found(document, setting.name) is None and not _is_mentioned(setting.name, every):
            raise _unknown(document, setting.name, with_batch)


def apply_settings(document: Document, values: Mapping[str, str], seed: int | None) -> Document:
    """The document with `values` (setting -> text) in it. seed: of generators that were given
    none; None leaves them as they are. Raises GradstepError for a value that cannot be there."""
    for name, text in values.items():
        put = _found(document, name)
        if put is None:
            continue
        written = seeded_text(_filled_in(text, values), seed)
        try:
            document = put(document, written)
        except GradstepError as error:
            error.message = f"{name}={_short(written)}: {error.message}"
            raise
    return document


def settable_names(document: Document) -> list[str]:
    """What can be set of a document, for menus and suggestions: optimizers' first."""
    numbers = [op.name for op in document.graph if has_value(op)]
    rows = [] if document.data is None else [BATCH]
    return [*_optimizer_names(document), *rows, *numbers]


def _found(document: Document, name: str) -> _Put | None:
    """What sets it; None for nothing. Raises GradstepError where it may mean two things."""
    node, optimizers = _node(document, name), _optimizers(document, name)
    if node is not None and optimizers:
        raise _ambiguous(name, [f"{name}:0", f"{optimizer_labels(document)[optimizers[0]]}.{name}"])
    if node is not None:
        return node
    if optimizers:
        key = name.rpartition(".")[2]
        return partial(_set_hyper, indices=optimizers, key=key)
    return _set_batch if name == BATCH and document.data else _attribute(document, name)


def _set_batch(document: Document, text: str) -> Document:
    assert document.data is not None
    return document.with_(data=replace(document.data, batch=row_count(text)))


def row_count(text: str) -> int:
    """How many rows a step is fed. Raises GradstepError (UsageError)."""
    if not text.isdecimal() or not int(text):
        hint = "write whole numbers: batch=16,32"
        raise GradstepError(f"{text} is no number of rows", kind=USAGE, hint=hint)
    return int(text)


def _node(document: Document, name: str) -> _Put | None:
    op = document.graph.operations.get(name.removesuffix(":0"))
    return partial(_set_node, name=op.name) if op is not None and has_value(op) else None


def _set_node(document: Document, text: str, name: str) -> Document:
    return set_value(document, name, text)


def _optimizers(document: Document, name: str) -> list[int]:
    """Which optimizers have that setting. Raises GradstepError where several do."""
    label, dot, key = name.rpartition(".")
    labels = optimizer_labels(document)
    found = [
        number
        for number, optimizer in enumerate(document.optimizers)
        if (not dot or labels[number] == label) and key in OPTIMIZERS.get(optimizer.type, ())
    ]
    if len(found) > 1:
        raise _ambiguous(name, [f"{labels[number]}.{key}" for number in found])
    return found


def _optimizer_names(document: Document) -> list[str]:
    every = document.optimizers
    if len(every) == 1:
        return [*OPTIMIZERS.get(every[0].type, ())]
    pairs = zip(optimizer_labels(document), every, strict=True)
    return [f"{label}.{key}" for label, o in pairs for key in OPTIMIZERS.get(o.type, ())]


def _set_hyper(document: Document, text: str, indices: list[int], key: str) -> Document:
    changed = [*document.optimizers]
    for number in indices:
        changed[number] = _with_hyper(changed[number], key, text)
    return document.with_(optimizers=tuple(changed))


def _with_hyper(optimizer: Optimizer, key: str, text: str) -> Optimizer:
    if text.lower() in ("true", "false") and not is_flag(optimizer.type, key):
        raise _no_number()
    try:
        return with_number(optimizer, key, text)
    except GradstepError:
        raise _no_number() from None


def _no_number() -> GradstepError:
    return GradstepError(
        "it is a number", kind="ValueError", hint="write numbers, such as 0.01,0.1"
    )


def _attribute(document: Document, name: str) -> _Put | None:
    node, _, key = name.rpartition(".")
    op = document.graph.operations.get(node)
    definition = None if op is None else find(op.type)
    if op is None or definition is None or key not in {**definition.attrs, **op.attrs}:
        return None
    like = op.attrs.get(key, definition.attrs.get(key))
    return partial(_set_attribute, name=node, key=key, like=like)


def _set_attribute(document: Document, text: str, name: str, key: str, like: object) -> Document:
    return set_attr(document, name, key, read_attribute(text, like))


def _is_mentioned(name: str, settings: Iterable[Setting]) -> bool:
    return any(f"{{{name}}}" in value for s in settings if s.name != name for value in s.values)


def _filled_in(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _ambiguous(name: str, ways: Iterable[str]) -> GradstepError:
    return GradstepError(
        f"'{name}' may mean several things", kind=USAGE, hint=f"write {' or '.join(ways)}"
    )


def _unknown(document: Document, name: str, with_batch: bool) -> GradstepError:
    known = [*settable_names(document), *([BATCH] if with_batch else ())]
    kinds = "an optimizer's setting, a node with a value, NODE.ATTRIBUTE"
    kinds += ", or batch" if with_batch else ""
    hint = did_you_mean(near(name, known)) or f"it can be {kinds}: {', '.join(known[:6])}"
    return GradstepError(f"nothing is called '{name}' that could be set", kind=USAGE, hint=hint)
