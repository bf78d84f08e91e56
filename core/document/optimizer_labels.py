"""What a document's optimizers are called, and their settings as texts that people edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead

ONLY = "optimizer"  # how the only one may be called, too
# Settings that are texts, and no numbers, and what holds them: RMSProp has a decay of its own.
TEXTS: Mapping[str, str] = {"schedule": "schedule", "clip": "clip", "weight_decay": "decay"}
_FLAGS: Mapping[str, float] = {"true": 1.0, "false": 0.0}


def optimizer_labels(document: Document) -> list[str]:
    """By name, numbered where that is taken."""
    found: list[str] = []
    for optimizer in document.optimizers:
        name, number = optimizer.name or "train", 0
        while (label := f"{name}_{number}" if number else name) in found:
            number += 1
        found.append(label)
    return found


def find_optimizer(document: Document, label: str) -> int:
    """The number of the one that is called so. Raises GradstepError for none."""
    labels = optimizer_labels(document)
    if label in labels:
        return labels.index(label)
    if label == ONLY and len(labels) == 1:
        return 0
    raise GradstepError(
        f"there is no optimizer '{label}'", kind="KeyError", hint=instead(label, labels)
    )


def set_optimizer(document: Document, label: str, key: str, text: str) -> Document:
    """With another setting of one optimizer: a number by TensorFlow's name, or one of `TEXTS`.
    Raises GradstepError for what is no number, and for an optimizer that there is not."""
    number = find_optimizer(document, label)
    changed = [*document.optimizers]
    changed[number] = with_setting(changed[number], key, text)
    return document.with_(optimizers=tuple(changed))


def with_setting(optimizer: Optimizer, key: str, text: str) -> Optimizer:
    """The optimizer with a setting read from text; "true" and "false" are 1 and 0, and "" is what
    TensorFlow takes by default."""
    text = text.strip()
    if key in TEXTS:
        held: dict[str, Any] = {TEXTS[key]: text}
        return replace(optimizer, **held)
    if not text:
        return replace(optimizer, hyper={k: x for k, x in optimizer.hyper.items() if k != key})
    return with_number(optimizer, key, text)


def with_number(optimizer: Optimizer, key: str, text: str) -> Optimizer:
    """`optimizer` with a setting that is a number, which has to be there."""
    try:
        number = _FLAGS.get(text.lower())
        number = float(text) if number is None else number
    except ValueError:
        raise GradstepError(
            f"{key} is a number", kind="ValueError", hint="write a number, such as 0.01"
        ) from None
    return replace(optimizer, hyper={**optimizer.hyper, key: number})


def is_settings_alone(before: Optimizer, after: Optimizer) -> bool:
    """Whether nothing but settings differ between two."""
    same = {each: getattr(before, each) for each in ("hyper", *TEXTS.values())}
    return replace(after, **same) == before


def changes(before: Optimizer, after: Optimizer) -> list[tuple[str, str]]:
    """Settings, and the texts by which `with_setting` makes the one of the other."""
    old, new = before.hyper, after.hyper
    names = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    found = [(name, repr(new[name]) if name in new else "") for name in names]
    texts = [(n, getattr(before, x), getattr(after, x)) for n, x in TEXTS.items()]
    return [*found, *((name, now) for name, then, now in texts if then != now)]
