"""The op table in the order people look through it: by subject, then by family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gradstep.core.ops.declare.definition import OpDef

Catalogue = Mapping[str, Mapping[str, Sequence[OpDef]]]  # subject -> family -> its ops

_ORDER = ("math", "arrays", "linalg", "neural", "state", "control")
_SUBJECTS = {"linalg": "linear algebra", "neural": "neural networks"}
_FAMILIES = {
    "gradient_descent_and_adam": "gradient descent and Adam",
    "ref_variables": "variables",
}


def catalogue(definitions: Iterable[OpDef]) -> Catalogue:
    """Subjects as _ORDER says, then any others; families and their ops by name."""
    found: dict[str, dict[str, list[OpDef]]] = {}
    for d in sorted(definitions, key=lambda d: (_rank(d.subject), d.family, d.type.lower())):
        found.setdefault(d.subject, {}).setdefault(d.family, []).append(d)
    return found


def subject_title(name: str) -> str:
    """A subject in words: `linear algebra`."""
    return _SUBJECTS.get(name, name.replace("_", " "))


def family_title(name: str) -> str:
    """A family in words: `python ops`."""
    return _FAMILIES.get(name, name.replace("_", " "))


def capitalized(title: str) -> str:
    """A title at the beginning of a line; names in it keep their letters."""
    return title[:1].upper() + title[1:]


def _rank(subject: str) -> tuple[int, str]:
    return (_ORDER.index(subject) if subject in _ORDER else len(_ORDER), subject)
