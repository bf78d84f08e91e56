"""A target and what was measured: one line of the table, one entry of the JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.bench.spread import Spread


@dataclass(frozen=True)
class Row:
    """Smaller is better. measured: None where it could not be, and then `why`."""

    name: str
    target: float
    unit: str  # "ratio", "s", "count"
    measured: Spread | None
    why: str = ""
    fault: bool = False  # not missed: something of ours does not work

    @property
    def met(self) -> bool:
        return self.measured is not None and self.measured.median <= self.target

    def as_json(self) -> dict[str, Any]:
        spread = self.measured
        return {
            "name": self.name,
            "value": None if spread is None else spread.median,
            "target": self.target,
            "met": self.met,
            "unit": self.unit,
            "low": None if spread is None else spread.low,
            "high": None if spread is None else spread.high,
            "why": self.why,
        }
