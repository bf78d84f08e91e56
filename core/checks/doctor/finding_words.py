"""How findings say names, numbers and shares."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.name_list import name_list

_NAMED = 3  # names that one sentence says


def listed(names: Sequence[str]) -> str:
    """`a, b, c and 4 more`."""
    some = [*dict.fromkeys(names)]
    return name_list(some, _NAMED if len(some) > _NAMED + 1 else len(some))


def within(scope: str, names: Sequence[str]) -> list[str]:
    """Names as they are said beside that of something in the same scope."""
    return [name.removeprefix(f"{scope}/") if scope else name for name in names]


def plural(of: Sequence[object], one: str, many: str) -> str:
    return one if len(of) == 1 else many


def share(part: int, whole: int) -> str:
    """`12 of 16 (75 %)`."""
    return f"{part} of {whole} ({100 * part / whole:.0f} %)"
