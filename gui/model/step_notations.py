"""What steps do, in words, asked of the engine for the steps that are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Message, Notate, Notated, ProblemInfo, StepNotation
from gradstep.gui.model.value_cache import Later, Request

CHUNK = 400  # steps asked for at a time, so that what came first is there soon
SEEN = 64  # steps that are seen at a time, more or less


class StepNotations:
    """Of one program. `arrived` is called after each reply that says something new, `wrong` with
    what could not be said. `later` makes a call once the views have said what they look at;
    `is_there` says whether the program makes a tensor."""

    def __init__(
        self,
        request: Request,
        arrived: Callable[[], None],
        wrong: Callable[[list[ProblemInfo]], None],
        later: Later,
        is_there: Callable[[str], bool] = lambda tensor: False,
    ) -> None:
        self._request, self._is_there = request, is_there
        self._arrived, self._wrong, self._later = arrived, wrong, later
        self._known: dict[str, StepNotation] = {}
        self._earlier: dict[str, StepNotation] = {}  # of the program before an edit
        self._looked_at: dict[str, None] = {}  # in this program, the latest last,
        self._before: list[str] = []  # and in the one before it
        self._asked: set[str] = set()
        self._missing: list[str] = []  # looked at, and not asked for yet
        self._awaited: list[tuple[set[str], Callable[[], object]]] = []
        self._program = 0  # replies about an earlier one are dropped

    def text(self, op: str) -> str:
        """What the step of an operation does: as of before an edit, or "", while that is on its
        way. Asking is enough."""
        found = self._of(op) or self._earlier.get(op)
        return "" if found is None else found.text

    def operands(self, op: str) -> Mapping[str, str] | None:
        """What stands for a tensor in the text -> that tensor; None while it is on its way. As of
        before an edit meanwhile, where the tensors are still made."""
        found = self._of(op)
        if found is None:
            found = self._earlier.get(op)
            if found is None or not all(map(self._is_there, found.operands.values())):
                return None
        return found.operands

    def when_known(self, ops: Iterable[str], then: Callable[[], object]) -> None:
        """Call `then` once the texts of all these are here; never, if the program changes first."""
        missing = {op for op in ops if self._of(op) is None}
        if missing:
            self._awaited.append((missing, then))
        else:
            then()

    @property
    def wanted(self) -> list[str]:
        """The operations whose steps are to be told of with another program: those that were looked
        at last."""
        return [*self._looked_at][-SEEN:] or self._before

    def renew(self, steps: Iterable[StepNotation] = ()) -> None:
        """It is another program now, of the same document. steps: what came with it."""
        self._earlier, self._before = self._known or self._earlier, self.wanted
        self._restart()
        self._known = {said.op: said for said in steps}
        self._asked = {*self._known}

    def clear(self) -> None:
        """It is another document."""
        self._earlier, self._before = {}, []
        self._restart()

    def _restart(self) -> None:
        self._program += 1
        self._known, self._asked, self._missing, self._awaited = {}, set(), [], []
        self._looked_at = {}

    def _of(self, op: str) -> StepNotation | None:
        found = self._known.get(op)
        self._looked_at.pop(op, None)
        self._looked_at[op] = None
        if found is None and op not in self._asked:
            self._asked.add(op)
            self._missing.append(op)
            if len(self._missing) == 1:
                self._later(self._ask)
        return found

    def _ask(self) -> None:
        names, self._missing = self._missing, []
        for start in range(0, len(names), CHUNK):
            self._ask_for(names[start : start + CHUNK])

    def _ask_for(self, names: list[str]) -> None:
        program = self._program

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if program == self._program:
                self._keep(names, reply)

        self._request(Notate(ops=names), (), answered)

    def _keep(self, names: list[str], reply: Message) -> None:
        if not isinstance(reply, Notated):  # cancelled: to be asked for when looked at again
            self._asked.difference_update(names)
            return
        self._known.update((name, StepNotation(op=name, text="")) for name in names)
        self._known.update((said.op, said) for said in reply.steps)
        if reply.problems:
            self._wrong(reply.problems)
        if any(self._known[name] != self._earlier.get(name) for name in names):
            self._arrived()
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        waiting, self._awaited = self._awaited, []
        for missing, then in waiting:
            missing.difference_update(self._known)
            if missing:
                self._awaited.append((missing, then))
            else:
                then()
