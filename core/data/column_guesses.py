"""Which parts of a source go to which placeholders, as far as names and shapes tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod

from gradstep.core.data.source_survey import MOST_TEXTS, Part, Survey
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import TensorRef

Kinds = Mapping[TensorRef, TensorType]
LABELS = ("y", "label", "labels", "target", "targets", "class", "classes", "species", "y_true")
_PLAIN = re.compile(r"[^,:|\"]+")  # names that a column's text can hold
_RANGE = 3  # columns in a row that are written one by one
_OFFERED = 64  # parts, at most
_LARGE = 10.0  # numbers beyond it are brought nearer to 1


def guess_columns(found: Survey, kinds: Kinds) -> dict[TensorRef, str]:
    """The text of the column for each of these placeholders that something is there for."""
    labels, others = _split(found)
    target = _target(kinds)
    texts: dict[TensorRef, str] = {}
    for ref, kind in kinds.items():
        named = next((p for p in found.parts if p.name.lower() == _name(ref)), None)
        if named is not None and not (found.is_table and len(kinds) > 1 and ref != target):
            texts[ref] = _text(found, [named], kind, is_label=ref == target)
        elif ref == target and labels is not None:
            texts[ref] = _text(found, [labels], kind, is_label=True)
        elif others:
            texts[ref] = _text(found, _as_many(found, others, kind), kind, is_label=False)
    return texts


def guess_placeholders(found: Survey) -> dict[str, TensorType]:
    """Name -> type of the placeholders that the source asks for: of features, and of labels."""
    labels, others = _split(found)
    made: dict[str, TensorType] = {}
    if others:
        size = len(others) if found.is_table else prod(others[0].row)
        made["x"] = TensorType(DType.FLOAT32, Shape.of(None, size))
    if labels is not None:
        classes = not labels.row and (labels.whole or bool(labels.texts))
        inner = () if classes else labels.row or (1,)
        made["y"] = TensorType(DType.INT32 if classes else DType.FLOAT32, Shape.of(None, *inner))
    return made


def offered_texts(found: Survey, ref: TensorRef, kind: TensorType) -> list[str]:
    """What a placeholder may be fed of a source: what suits it best, and each part by itself."""
    best = [*guess_columns(found, {ref: kind}).values()]
    parts = found.parts[:_OFFERED]
    return best + [_text(found, [part], kind, is_label=found.is_table) for part in parts]


def place_text(found: Survey, parts: Sequence[Part]) -> str:
    """What names these parts in a column's text."""
    names = [_written(found, part) for part in parts]
    if found.is_table:
        if len(parts) == len(found.parts):
            return f"@{found.place}"
        places = [found.parts.index(part) for part in parts]
        in_a_row = places == [*range(places[0], places[0] + len(places))]
        if in_a_row and len(parts) > _RANGE:
            names = [f"{names[0]}..{names[-1]}"]
    part = ",".join(names)
    return f"@{found.place}:{part}" if part else f"@{found.place}"


def class_count(part: Part) -> int:
    """How many classes a column of labels has; 0 where nobody knows."""
    return len(part.texts) or (int(part.most) + 1 if part.whole and part.most >= 0 else 0)


def _split(found: Survey) -> tuple[Part | None, list[Part]]:
    """What is to be learnt, and from what."""
    parts = [p for p in found.parts if len(p.texts) <= MOST_TEXTS]
    labels = next((p for p in parts if p.name.lower() in LABELS), None)
    if labels is None and len(parts) > 1:
        labels = next((p for p in parts if p.texts), parts[-1])
    others = [p for p in parts if p is not labels and not p.texts]
    return labels, others if found.is_table else others[:1]


def _target(kinds: Kinds) -> TensorRef | None:
    """The placeholder of what is to be learnt."""
    if len(kinds) < 2:
        return next((ref for ref in kinds if _name(ref) in LABELS), None)
    named = [ref for ref in kinds if _name(ref) in LABELS]
    whole = [ref for ref, kind in kinds.items() if kind.dtype.is_integer]
    return next(iter((*named, *whole)), min(kinds, key=lambda ref: _size(kinds[ref])))


def _name(ref: TensorRef) -> str:
    return ref.op.rpartition("/")[2].lower()


def _size(kind: TensorType) -> int:
    size = 1
    for each in (kind.shape.dims or ())[1:]:
        size *= each or 1
    return size


def _as_many(found: Survey, parts: list[Part], kind: TensorType) -> list[Part]:
    """So many columns of a table as a row of the placeholder holds numbers."""
    if not found.is_table or None in (kind.shape.dims or (None,))[1:]:
        return parts
    return parts[: _size(kind)]


def _text(found: Survey, parts: Sequence[Part], kind: TensorType, *, is_label: bool) -> str:
    steps = _label_steps(parts[0], kind) if is_label else _feature_steps(found, parts, kind)
    return " | ".join([place_text(found, parts), *steps])


def _label_steps(part: Part, kind: TensorType) -> list[str]:
    steps = [f"classes({', '.join(map(_quoted, part.texts))})"] if part.texts else []
    classes, size = class_count(part), _size(kind)
    if classes > 1 and size >= classes and not part.row:
        steps.append(f"one_hot({size})")
    return steps


def _feature_steps(found: Survey, parts: Sequence[Part], kind: TensorType) -> list[str]:
    most = max((part.most for part in parts), default=0.0)
    if not kind.dtype.is_floating or not most > _LARGE:
        return []
    if found.is_table:
        return ["standardise"]
    return [f"scale(1/{most:g})"] if all(part.whole for part in parts) else ["standardise"]


def _written(found: Survey, part: Part) -> str:
    plain = _PLAIN.fullmatch(part.name) and ".." not in part.name
    return part.name if plain or not found.is_table else str(found.parts.index(part) + 1)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
