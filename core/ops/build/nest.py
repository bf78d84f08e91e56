"""Results that nest: lists, tuples and dictionaries of tensors, as TensorFlow has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradstep.core.errors import GradstepError


def leaves(structure: Any) -> list[Any]:
    """What is in it, in order; dictionaries in the order of their keys."""
    return [*_leaves(structure)]


def map_structure(structure: Any, function: Callable[[Any], Any]) -> Any:
    """The same structure of what `function` makes of each leaf."""
    if isinstance(structure, Mapping):
        made = {key: map_structure(structure[key], function) for key in sorted(structure)}
        return {key: made[key] for key in structure}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(map_structure(part, function) for part in structure))
    if isinstance(structure, list | tuple):
        return type(structure)([map_structure(part, function) for part in structure])
    return function(structure)


def require_same(first: Any, second: Any) -> None:
    """Raises GradstepError (ValueError, TypeError) where the structures differ."""
    for a, b in _pairs(first, second):
        if _is_nested(a) != _is_nested(b):
            nested, single = (a, b) if _is_nested(a) else (b, a)
            why = f"Substructure {_said(nested)} is a sequence, while substructure {_said(single)} "
            raise _differing(first, second, f"{why}is not", "ValueError")
        if isinstance(a, Mapping) and isinstance(b, Mapping) and {*a} != {*b}:
            why = "The two dictionaries don't have the same set of keys. First structure has keys "
            why += f"{[*a]}, while second structure has keys {[*b]}"
            raise _differing(first, second, why, "ValueError")
        if _is_nested(a) and len(a) != len(b):
            why = f"First structure has {len(a)} elements, while second structure has {len(b)}"
            raise _differing(first, second, why, "ValueError")
        if _is_nested(a) and type(a) is not type(b):
            why = "The two sequences don't have the same type. First structure has type "
            why += f"{type(a).__name__}, while second structure has type {type(b).__name__}"
            raise _differing(first, second, why, "TypeError")


def _leaves(structure: Any) -> Iterator[Any]:
    if not _is_nested(structure):
        yield structure
        return
    for part in _parts(structure):
        yield from _leaves(part)


def _parts(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[key] for key in sorted(structure)]
    return [*structure]


def _pairs(first: Any, second: Any) -> Iterator[tuple[Any, Any]]:
    """What stands at the same places, the whole first."""
    yield first, second
    if _is_nested(first):
        for a, b in zip(_parts(first), _parts(second), strict=True):
            yield from _pairs(a, b)


def _is_nested(structure: Any) -> bool:
    return isinstance(structure, list | tuple | Mapping)


def _said(structure: Any) -> str:
    return f'"type={type(structure).__name__} str={structure}"'


def _differing(first: Any, second: Any, why: str, kind: str) -> GradstepError:
    said = [_said(structure).strip('"') for structure in (first, second)]
    return GradstepError(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {said[0]}\n\nSecond structure: {said[1]}\n\nMore specifically: {why}",
        kind=kind,
        hint="return as many tensors from both, nested in the same way",
    )
