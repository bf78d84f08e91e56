"""The what-if table in sentences: which variants part from the native gradient, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from gradstep.core.protocol.messages import VariantRow
from gradstep.core.protocol.vocabulary import VariantName

VARIANTS: tuple[VariantName, ...] = get_args(VariantName)

_SAID: Mapping[VariantName, str] = {
    "native": "native",
    "as it stands": "as it stands",
    "overrides only": "with overrides only",
    "stops only": "with stops only",
    "numeric": "by the numbers",
    "straight-through": "straight through",
}


def say_where_they_part(rows: Sequence[VariantRow], errors: Mapping[str, str]) -> str:
    """A sentence for each operation where variants part from native, and each that has failed."""
    parted: dict[str, dict[VariantName, None]] = {}
    for name in VARIANTS:
        for cell in (cell for row in rows for cell in row.cells if cell.variant == name):
            if not cell.same:
                parted.setdefault(cell.where, {})[name] = None
    failed = [f"{name} cannot be computed: {text}" for name, text in errors.items()]
    sentences = [_sentence([*names], where) for where, names in parted.items()]
    return " ".join([*sentences, *failed]) or "All variants give the native gradient."


def _sentence(names: Sequence[VariantName], where: str) -> str:
    *most, last = (_SAID[name] for name in names)
    listed = f"{', '.join(most)} and {last}" if most else last
    place = f" at {where}" if where else ""
    return f"{listed[:1].upper()}{listed[1:]}, the gradient parts from native{place}."
