"""What came out, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.mutation.trial import Outcome


@dataclass(frozen=True)
class Measured:
    """One area. places: where a change could be made, of which `outcomes` is a sample; left_out:
    numbers of changes that make no difference, by reason; failing: tests that failed anyway."""

    area: str
    commit: str
    seed: int
    places: int
    left_out: Mapping[str, int]
    failing: list[str]
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def survivors(self) -> list[Outcome]:
        return [each for each in self.outcomes if not each.killed_by]

    @property
    def killed(self) -> int:
        return len(self.outcomes) - len(self.survivors)

    @property
    def share(self) -> float:
        """Of the mutants, 0 to 1."""
        return self.killed / max(len(self.outcomes), 1)

    def as_json(self) -> dict[str, Any]:
        return {
            "area": self.area,
            "commit": self.commit,
            "seed": self.seed,
            "places": self.places,
            "mutants": len(self.outcomes),
            "killed": self.killed,
            "timed_out": sum(each.killed_by == "time" for each in self.outcomes),
            "survived": len(self.survivors),
            "share": round(self.share, 4),
            "left_out": dict(self.left_out),
            "failing_anyway": self.failing,
            "survivors": [_as_json(each) for each in self.survivors],
        }


def _as_json(outcome: Outcome) -> dict[str, Any]:
    mutant = outcome.mutant
    names = ("file", "line", "operator", "before", "after")
    return {**{name: getattr(mutant, name) for name in names}, "tests": outcome.tests}


def readable(measured: Measured) -> str:
    """The survivors with what was changed, then the share."""
    lines = [_survivor(each) for each in measured.survivors]
    lines += [f"fails anyway, and counts for nothing: {name}" for name in measured.failing]
    said = (f"{count} {reason}" for reason, count in sorted(measured.left_out.items()))
    total, timed_out = len(measured.outcomes), measured.as_json()["timed_out"]
    lines.append(
        f"{measured.area} at {measured.commit}: {measured.killed} of {total} mutants killed "
        f"({timed_out} by time), {measured.share:.1%}; seed {measured.seed}, of {measured.places} "
        f"places; left out: {', '.join(said) or 'none'}"
    )
    return "\n".join(lines)


def progress(outcome: Outcome) -> str:
    """Which test has killed it; or the survivor."""
    mutant = outcome.mutant
    if outcome.killed_by:
        return f"{mutant.file}:{mutant.line} {outcome.killed_by}"
    return f"SURVIVED {_survivor(outcome)}"


def _survivor(outcome: Outcome) -> str:
    """Where it is, and the lines before and after."""
    mutant = outcome.mutant
    alone = "" if outcome.tests else ", and no test comes there"
    changed = [f"  - {line}" for line in mutant.before.split("\n")]
    changed += [f"  + {line}" for line in mutant.after.split("\n")]
    return "\n".join([f"{mutant.file}:{mutant.line}  {mutant.operator}{alone}", *changed])
