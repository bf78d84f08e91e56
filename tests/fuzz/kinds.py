"""The kinds of cases: what makes case `number` of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.fuzz import documents, doors, graphdefs, onnx_mutants, wires
from tests.fuzz.bombs import BOMBS
from tests.fuzz.case import BOMB, Case, dice

_HEAVY = 8  # of so many cases one gets the checks as well


@dataclass(frozen=True)
class Kind:
    """make: case `number` of a seed, None for one that is refused; usual: how many are tried where
    nothing is said; most: how many there are."""

    make: Callable[[int, int], Case | None]
    usual: int = 2000
    most: Callable[[], int] | None = None

    def numbers(self, start: int, count: int) -> range:
        """Of so many cases, as far as there are."""
        stop = start + count
        return range(start, stop if self.most is None else min(stop, self.most()))

    def is_heavy(self, number: int) -> bool:
        return self.most is None and number % _HEAVY == 0


def kinds() -> Mapping[str, Kind]:
    """By the words that the command takes."""
    return {
        "documents": Kind(lambda seed, n: documents.case(dice("documents", seed, n))),
        "graphdef": Kind(lambda seed, n: graphdefs.case(dice("graphdef", seed, n))),
        "onnx": Kind(lambda seed, n: onnx_mutants.case(dice("onnx", seed, n))),
        "text": Kind(lambda seed, n: doors.case(dice("text", seed, n)), 10_000),
        "expressions": Kind(lambda seed, n: doors.expression_case(dice("text", seed, n)), 10_000),
        "commands": Kind(lambda seed, n: doors.command_case(dice("commands", seed, n))),
        "wires": Kind(lambda seed, n: wires.case(n), 5000, wires.count),
        "bombs": Kind(lambda seed, n: _bomb(n), len(BOMBS), lambda: len(BOMBS)),
    }


def _bomb(number: int) -> Case:
    return Case(BOMB, BOMBS[number].name.encode())
