"""Draws mutants of some modules with Cosmic Ray's operators. Run by the environment that has it.

    python -m tests.mutation.draw < request.json > drawn.json

request: {"root", "modules": paths below it, "sample": 0 for all, "seed", "excused": [{"file",
"before", "after"}]}. The answer is an object with "mutants", each {"file", "line", "operator",
"before", "after", "source"}, and "left_out": numbers of those that change nothing, by reason.

A place is changed in one way only, drawn from those that its operators know. The draw depends on
the place's own text: code that two trees have in common gives the same mutants in both.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code

from tests.mutation.no_effect import no_effect
from tests.mutation.operators import OPERATORS, kind_of

Change = tuple[str, str, str]  # file, lines before, lines after


@dataclass(frozen=True)
class Place:
    """Where an operator can change a module, and what it is counted as there."""

    file: str
    operator: str
    occurrence: int
    line: int
    column: int
    text: str  # of the line
    no_effect: str  # why a change would make none; empty where it might

    @property
    def spot(self) -> tuple[Any, ...]:
        return self.file, self.line, self.column, kind_of(self.operator)


def places(root: Path, file: str) -> Iterator[Place]:
    """Every place of a module, in the order in which Cosmic Ray counts them."""
    source = (root / file).read_text("utf-8")
    lines = source.split("\n")
    seen: Counter[str] = Counter()

    def walk(node: Any) -> Iterator[Place]:
        for name, operator in OPERATORS.items():
            for (line, column), _ in operator.mutation_positions(node):
                number, seen[name] = seen[name], seen[name] + 1
                yield Place(
                    file, name, number, line, column, lines[line - 1], no_effect(name, node)
                )
        for child in getattr(node, "children", ()):
            yield from walk(child)

    return walk(get_ast(source))


def drawn(root: Path, modules: list[str], sample: int, seed: int, excused: set[Change]) -> Any:
    """At most `sample` mutants, all where that is 0; see this module."""
    spots: dict[tuple[Any, ...], list[Place]] = {}
    left_out: Counter[str] = Counter()
    for file in modules:
        for place in places(root, file):
            if place.no_effect:
                left_out[place.no_effect] += 1
            else:
                spots.setdefault(place.spot, []).append(place)
    chosen = [min(group, key=lambda p: _lot(seed, p)) for group in spots.values()]
    mutants: list[dict[str, Any]] = []
    for place in sorted(chosen, key=lambda p: _lot(seed, p)):
        if sample and len(mutants) == sample:
            break
        mutant = _mutant(root, place)
        if mutant is None:
            left_out["the same program, or none"] += 1
        elif (mutant["file"], mutant["before"], mutant["after"]) in excused:
            left_out["equivalent, by the list"] += 1
        else:
            mutants.append(mutant)
    mutants.sort(key=lambda m: (m["file"], m["line"]))
    return {"mutants": mutants, "places": len(chosen), "left_out": dict(left_out)}


def _lot(seed: int, place: Place) -> str:
    drawn_by = (seed, place.file, place.operator, place.column, place.text)
    return hashlib.sha256(repr(drawn_by).encode()).hexdigest()


def _mutant(root: Path, place: Place) -> dict[str, Any] | None:
    """None where it is the same program, or none."""
    source = (root / place.file).read_text("utf-8")
    mutated = mutate_code(source, OPERATORS[place.operator], place.occurrence)
    if mutated is None or _parsed(mutated) in ("", _parsed(source)):
        return None
    before, after = _changed(source, mutated)
    return {
        "file": place.file,
        "line": place.line,
        "operator": place.operator,
        "before": before,
        "after": after,
        "source": mutated,
    }


def _parsed(source: str) -> str:
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return ""


def _changed(source: str, mutated: str) -> tuple[str, str]:
    """The lines that differ, without their indentation."""
    lines = list(difflib.ndiff(source.split("\n"), mutated.split("\n")))
    before, after = ([line[2:].strip() for line in lines if line[0] == sign] for sign in "-+")
    return "\n".join(filter(None, before)), "\n".join(filter(None, after))


def main() -> None:
    request = json.load(sys.stdin)
    excused = {(each["file"], each["before"], each["after"]) for each in request["excused"]}
    answer = drawn(
        Path(request["root"]), request["modules"], request["sample"], request["seed"], excused
    )
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
