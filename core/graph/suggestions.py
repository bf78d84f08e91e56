"""Names that somebody may have meant: what is one slip or two away, and nothing that is not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gradstep.core.errors import GradstepError
from gradstep.core.memory_release import memo_of_document

_LISTED = 5  # names, where none is near
_VERSION = re.compile(r"(?:_?v?\d+)$")  # of MatMul_1, GatherV2
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FAR = 9  # further than any slips


def near(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that `name` may be a slip of, capitals aside; the likest first.

    One or two letters may be wrong, missing, too many or swapped, more in long names; so may be
    scopes, a version or number at the end, or the order of the words.
    """
    asked = _Name.of(name)
    words = [_Name.of(word) for word in {*known}]
    found = ((asked.distance(word), word) for word in words)
    ranked = sorted((d, asked.differing(word), word.name) for d, word in found if d < _FAR)
    return [word for d, _, word in ranked[:most] if d <= ranked[0][0] + 1]


class _Name:
    """A name taken apart. text: in small letters, bag: how often each; stem: what stands behind all
    scopes, without a version or number at its end; words: that it consists of, in any order."""

    __slots__ = ("bag", "name", "scopes", "stem", "text", "words")

    def __init__(self, name: str) -> None:
        *scopes, last = name.split("/")
        self.name, self.text = name, name.lower()
        self.bag = Counter(self.text)
        self.scopes = tuple(scope.lower() for scope in scopes)
        self.stem = _VERSION.sub("", last.lower()) or last.lower()
        self.words = tuple(sorted(word.lower() for word in _WORD.findall(last)))

    @staticmethod
    @memo_of_document(1 << 14)
    def of(name: str) -> _Name:
        return _Name(name)

    def distance(self, other: _Name) -> int:
        """How many slips lead from one to the other; `_FAR` where none do."""
        allowed = _slips(self.text, other.text)
        slips = _FAR
        if self.differing(other) <= 2 * allowed:
            slips = _edits(self.text, other.text, allowed)
        slips = slips if slips <= allowed else _FAR
        if not _is_part(*sorted((self.scopes, other.scopes), key=len)):
            return slips
        if self.stem == other.stem:
            return min(slips, 1)
        same = len(self.words) > 1 and self.words == other.words
        return min(slips, allowed + 1) if same else slips

    def differing(self, other: _Name) -> int:
        """How many letters only one of the two has."""
        mine, its = (sum(a.values()) for a in (self.bag - other.bag, other.bag - self.bag))
        return mine + its


def _slips(a: str, b: str) -> int:
    """How many letters may be wrong between two names that are meant to be one."""
    length = max(len(a), len(b))
    if length < 3:
        return int(len(a) != len(b) and min(len(a), len(b)) > 0)
    return 1 if length < 6 else 2 if length < 12 else 3


def _is_part(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """Whether the ones are among the others, in their order."""
    rest = iter(many)
    return all(scope in rest for scope in few)


def _edits(a: str, b: str, most: int) -> int:
    """Letters to change, put in, leave out, or swap with their neighbour (Damerau's distance, no
    letter touched twice); more than `most` is not counted on."""
    before: list[int] = []
    last: list[int] = [*range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(row[-1] + 1, last[j] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]


def did_you_mean(words: Iterable[str]) -> str:
    """`did you mean MatMul or Mul?`; "" without words."""
    found = " or ".join(words)
    return f"did you mean {found}?" if found else ""


def instead(name: str, known: Iterable[str]) -> str:
    """What to write in place of `name`: the names most like it, or else what there is."""
    names = [*known]
    return did_you_mean(near(name, names)) or list_more(names)


def list_more(names: Iterable[str]) -> str:
    """`there are a, b, c and 9 more`; "" without names."""
    every = [*names]
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    there = "there is" if len(every) == 1 else "there are"
    return f"{there} {', '.join(every[:_LISTED])}{more}" if every else ""


def unknown_name(name: str, known: Iterable[str]) -> GradstepError:
    """The error for a name that is not in the graph, with the closest ones that are."""
    return GradstepError(
        f"there is no operation named '{name}' in this graph",
        kind="KeyError",
        node=name,
        hint=instead(name, known),
    )
