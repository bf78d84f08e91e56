"""The recorded runs of a branch that is not the one that is shown: what a timeline goes back to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.debug.concurrency.observed_writes import ObservedWrites
from gradstep.core.debug.history.run_starts import RunStarts
from gradstep.core.engine.memory.run_snapshot import RunSnapshot
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.graph.model import TensorRef

if TYPE_CHECKING:
    from gradstep.core.debug.history.manual_assignments import Assignment

Feeds = Mapping[TensorRef, np.ndarray]
FedFrom = tuple[tuple[int, int], Feeds]  # behind which run and step it is fed what


@dataclass(eq=False)
class ParkedRuns:
    """What a timeline holds, as its own fields of these names; it is shared with others, and nobody
    writes to it. live: the last run, as far as it was done; None where it is to be made again."""

    runs: int
    first: int
    done: int
    changes: list[Assignment]
    feeds_from: list[FedFrom]
    kept: OrderedDict[int, RunSnapshot]
    starts: RunStarts
    seen: ObservedWrites
    outside: VariableStore
    live: RunSnapshot | None

    @property
    def snapshots(self) -> list[RunSnapshot]:
        """All that it keeps."""
        return [*self.kept.values(), *([] if self.live is None else [self.live])]

    def drop_one(self) -> bool:
        """Keep one less: a run can be made again. False if there is none."""
        if self.kept:
            self.kept.popitem(last=False)
        elif self.live is not None:
            self.live = None
        else:
            return False
        return True


class ParkedBranches:
    """The parked runs of all branches but the one that is shown, by their names."""

    def __init__(self) -> None:
        self.by_name: dict[str, ParkedRuns] = {}

    def nbytes_besides(self, shown: Iterable[RunSnapshot]) -> int:
        """Bytes of what they keep, of that which branches have in common once, and nothing of what
        is shown."""
        if not self.by_name:
            return 0
        there = {id(each): each for one in self.by_name.values() for each in one.snapshots}
        others = there.keys() - set(map(id, shown))
        return sum(there[each].nbytes for each in others)

    def drop_one(self) -> bool:
        """Let the first of them that keeps a run keep one less; False if none does."""
        return any(one.drop_one() for one in self.by_name.values())
