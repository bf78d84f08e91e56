"""Which iterations of loops are looked at, where somebody has chosen some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gradstep.core.graph.model import Operation, Phase


@dataclass(frozen=True, slots=True)
class ChosenIterations:
    """numbers: loop -> the iteration that is looked at, counted from 0. A loop on the way back is
    looked at in the iteration that goes back through the one that was chosen on the way there;
    paired: where none was, through the last, which is looked at then. totals: of loops on the way
    there how many iterations took place, where the way back has not come to its end."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    paired: bool = False
    totals: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.numbers) or self.paired

    def number(self, loop: Operation, count: int) -> int | None:
        """The iteration of `loop` that was chosen, of `count`; the last of fewer; on the way back
        perhaps one that is still to come. None for none."""
        if loop.name in self.numbers:
            return max(min(self.numbers[loop.name], count - 1), 0)
        if loop.phase is Phase.BACKWARD and loop.origin in self.numbers:
            total = self.totals.get(loop.origin, count)
            return max(total - 1 - self.numbers[loop.origin], 0)
        return None

    def shown(self, loop: Operation, count: int) -> int:
        """The iteration that is looked at of a loop that has made `count`."""
        chosen = self.number(loop, count)
        if chosen is not None:
            return chosen
        back = self.paired and loop.phase is Phase.BACKWARD and loop.origin
        return 0 if back else max(count - 1, 0)

    def with_(self, loop: str, number: int | None) -> ChosenIterations:
        """With another choice; None: where the debugger stands, or the last."""
        kept = {name: at for name, at in self.numbers.items() if name != loop}
        return replace(self, numbers=kept if number is None else {**kept, loop: number})

    def with_total(self, loop: str, count: int) -> ChosenIterations:
        """Knowing how many iterations of a loop on the way there took place."""
        return replace(self, totals={**self.totals, loop: count})

    def without(self, loops: Iterable[str]) -> ChosenIterations:
        """Without those of the loops that the debugger has gone into."""
        gone = {*loops}
        if gone.isdisjoint(self.numbers):
            return self
        return replace(self, numbers={n: at for n, at in self.numbers.items() if n not in gone})
