"""A random walk on one document, and the three things that must hold all the way."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
from msgspec.structs import replace as replace_runs

from gradstep.core.debug.concurrency.session_registry import FIRST
from gradstep.core.document.document import CodeItem, Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from tests.soak import documents
from tests.soak.drawing import NothingError, draw_edit, pick
from tests.soak.faults import BrokenError, Counts
from tests.soak.frames import Frame, Position, differences, frame_of, reading, told, wording
from tests.soak.fresh import led
from tests.soak.questions import draw_question
from tests.soak.user import User

RAN = "this Python was not trusted, and ran"
UNTRUSTED = 0.15  # of the walks
LENGTH = 120  # moves of a walk
_KILLING = 4  # of so many walks one kills its engine
_LIMITS = (2 << 30, 2 << 30, 1 << 20, 1 << 15)  # bytes of recorded runs
_GONE = ("FailedPreconditionError", "ResourceExhaustedError")  # a run that is not kept any more

# Why a thread stands where what others see is not what it was: it let them go on, or its end closed
# a queue.
_MOVES_OTHERS = ("blocked", "exception")

Key = tuple[object, ...]


class Walk:
    """Moves are numbered from 1; each draws from numbers of its own, so that a walk can be made
    again without some of them."""

    def __init__(
        self, seed: int, user: User, counts: Counts, document: str = "", looks: bool = True
    ) -> None:
        """looks: whether it compares the values wherever it comes."""
        self.seed, self.user, self.counts, self.looks = seed, user, counts, looks
        self.document = document or documents.of_seed(seed)
        self.trail: list[str] = []
        self.number = 0
        self._rng = Random(f"{seed}/0")
        self._kills = kills(seed)
        self._session = FIRST
        self._given: dict[str, int] = {}  # session -> since when its variables were given values
        self._made: dict[tuple[str, str], int] = {}  # branch -> since when it has what was given
        self._epoch = 0
        self._seen: dict[Key, tuple[str, Frame]] = {}
        self._versions: dict[int, str] = {}  # edits made -> what they led to
        self._noted = 0  # edits made when that was last put down
        self._run_by = ""
        self._folder = ""

    def go(self, until: int = LENGTH, only: Collection[int] | None = None) -> None:
        """Make the moves. Raises BrokenError at the first that breaks something."""
        self.counts.done["walks"] += 1
        with tempfile.TemporaryDirectory(prefix="soak-") as self._folder:
            self._go(until, only)

    def _go(self, until: int, only: Collection[int] | None) -> None:
        untrusted = self._rng.random() < UNTRUSTED
        document = documents.load(self.document)
        if untrusted:
            document = _with_canary(document)
        self.user.open(document, not untrusted, self._rng.choice(_LIMITS))
        self._note_version()
        self._arrive()
        for number in range(1, until + 1):
            if only is None or number in only:
                self.number = number
                self._move(Random(f"{self.seed}/{number}"))

    def _move(self, rng: Random) -> None:
        moves = {**MOVES, **self.user.more()}
        name = rng.choices([*moves], [*moves.values()])[0]
        if name == "kill" and not self._kills:
            name = "control"
        self.trail.append(name)
        self.counts.done["moves"] += 1
        try:
            if name in MOVES:
                getattr(self, f"_{name}")(rng)
            else:
                self._say(self.user.do_more(name, rng))
                self._epoch += 1
                self._changed()
                self._arrive()
        except NothingError:
            self._say("nothing to do")
        except GradstepError as error:
            self.counts.done["refused"] += 1
            self._say(f"refused: {error.message}")
        except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError,
                RecursionError, MemoryError, NotImplementedError) as error:  # fmt: skip
            raise BrokenError("internal", f"{type(error).__name__}: {error}") from error

    def _say(self, text: str) -> None:
        self.trail[-1] += f" {text}"

    # -- moves of the debugger -----------------------------------------------------------------

    def _control(self, rng: Random) -> None:
        stop = self._stop()
        legal = [c for c in stop.legal if c != "restart"] or stop.legal
        command = "restart" if rng.random() < 0.04 else pick(rng, legal)
        target = self._target(rng) if command == "run_to" else ""
        self._command(command, target)

    def _target(self, rng: Random) -> str:
        program, stop = self._program(), self._stop()
        if rng.random() < 0.4:
            loops = [step for loop in program.loops for step in loop.steps]
            return pick(rng, [*program.steps, *loops]).op
        return f"{rng.randint(0, min(stop.runs + 1, 12))}:{rng.randint(0, len(program.steps))}"

    def _command(self, command: str, target: str = "") -> m.Message:
        self._say(f"{command} {target}".strip())
        reply = self.user.control(command, target)
        if command == "restart":
            self._given.pop(self._session, None)
            self._epoch += 1
        self._moved(reply, command in ("continue_", "thread"))
        return reply

    def _moved(self, reply: m.Message, moves_others: bool = False) -> None:
        if isinstance(reply, m.Failed):
            self._say(f"({reply.error.message})")
        if moves_others or reply_reason(reply) in _MOVES_OTHERS:
            self._epoch += 1
        self._arrive()

    def _there_and_back(self, rng: Random) -> None:
        """Some steps forward and as many back, or the other way round."""
        steps = rng.randint(1, 6)
        ways = [rng.choice(("step", "step_into")), "step_back"]
        for command in ways if rng.random() < 0.6 else reversed(ways):
            for _ in range(steps):
                if command in self._stop().legal:
                    self._command(command)

    def _train(self, rng: Random) -> None:
        """Runs on the fast plan: each, and the place, is what stepping through it finds."""
        steps = rng.choice((1, 2, 5, 12))
        self._say(f"{steps} steps")
        self._moved(self.user.train(steps))

    def _revisit(self, rng: Random) -> None:
        """Somewhere where it has stood before: go there, or look there from here."""
        scope = self._scope()
        seen = [key[-1] for key in self._seen if key[:-1] == scope]
        position = pick(rng, seen)
        assert isinstance(position, Position)
        if rng.random() < 0.4 and self._is_done(position):
            self._look(position)
            return
        if "run_to" not in self._stop().legal:
            raise NothingError
        reply = self._command("run_to", str(position))
        if isinstance(reply, m.Failed):
            if reply.error.type not in _GONE:
                raise BrokenError("revisit", f"no way back to {position}: {reply.error.message}")
        elif Position.of(self._stop()) != position and reply_reason(reply) == "goto":
            raise BrokenError("revisit", f"{Position.of(self._stop())} instead of {position}")

    def _is_done(self, position: Position) -> bool:
        """Whether what is before a place, outside of loops, has been executed for certain."""
        stop = self._stop()
        earlier = position.run < stop.runs - 1 or position[:2] <= (stop.run, stop.step)
        return earlier and not position.inside

    def _look(self, position: Position) -> None:
        self._say(f"look at {position}")
        question = reading(self._program(), self.user.document, position)
        reply, buffers = self.user.ask(question)
        if isinstance(reply, m.Failed):
            if reply.error.type not in _GONE:
                raise BrokenError("revisit", f"no look at {position}: {reply.error.message}")
            return
        if self.looks:
            self._compare(position, None, frame_of((reply, buffers)))

    def _thread(self, rng: Random) -> None:
        thread = pick(rng, self._stop().threads)
        self._command("thread", thread.name)

    def _sessions(self, rng: Random) -> None:
        listed = self.user.manage(m.ManageSessions(command="list"))
        if not isinstance(listed, m.SessionList):
            raise NothingError
        names = [session.name for session in listed.sessions]
        commands = ["duplicate", "new", "switch", "copy", "delete"]
        command = rng.choices(commands, [3, 2, 5, 3, 3 if len(names) > 1 else 0])[0]
        name = rng.choice(names) if command in ("switch", "delete") else f"s{rng.randrange(4)}"
        source, target = rng.choice(names), rng.choice(names)
        if command == "copy":
            request = m.ManageSessions(command=command, source=source, target=target)
        else:
            request = m.ManageSessions(command=command, name=name)
        self._say(f"{command} {name if command != 'copy' else f'{source} to {target}'}")
        self._epoch += 1
        reply = self.user.manage(request)
        if isinstance(reply, m.SessionList):
            self._remember_sessions(command, name, target, reply)
        else:
            self._say("(refused)")
        self._arrive()

    def _remember_sessions(self, command: str, name: str, target: str, now: m.SessionList) -> None:
        """A session that was given values goes on from those: it is no other's like."""
        if command == "duplicate":
            self._given[name] = self._epoch
        elif command == "copy":
            self._given[target] = self._epoch
        elif command in ("delete", "new"):
            self._given.pop(name, None)
        self._session = now.current

    def _branches(self, rng: Random) -> None:
        """A value given, or the program edited, on a branch; one shown, named, dropped."""
        names = [branch.name for branch in self._stop().branches]
        command = rng.choice(("inject", "edit", "switch", "switch", "rename", "drop"))
        if command in ("inject", "edit"):
            reply = self._fork(rng, command)
        else:
            name = pick(rng, names)
            request = m.ManageBranches(command=command, name=name, to=f"n{rng.randrange(4)}")
            self._say(f"{command} {name} {request.to if command == 'rename' else ''}".strip())
            reply = self.user.branch(request)
            if command == "rename" and isinstance(reply, m.SessionList):
                made = self._made.pop((self._session, name), self._epoch)
                self._made[self._session, request.to] = made
        if isinstance(reply, m.Failed):
            self._say(f"(refused: {reply.error.message})")
        self._arrive()

    def _fork(self, rng: Random, command: str) -> m.Message:
        if command == "edit":
            wires = [f"{op.name}<0" for op in self.user.document.graph if op.inputs]
            kind = rng.choice(("stop", "stop", "unstop", "hyper"))
            rate = ["optimizer", "learning_rate", str(rng.choice((0.0, 0.25)))]
            edited = rate if kind == "hyper" else [pick(rng, wires)]
            self._say(f"{kind} {' '.join(edited)}")
            request: m.Inject | m.ManageBranches = m.ManageBranches(
                command="edit", kind=kind, edited=edited
            )
            reply = self.user.branch(request)
        else:
            program, inside = self._program(), {place.loop for place in self._stop().inside}
            loops = [step for one in program.loops if one.loop in inside for step in one.steps]
            refs = [ref for step in loops or program.steps for ref in step.outputs]
            ref = pick(rng, refs)
            read, _ = self.user.ask(m.Read(refs=[ref]))
            part = read.parts[0] if isinstance(read, m.Values) and read.parts else None
            if part is None or part.dtype != "float32" or part.state != "known":
                raise NothingError
            value = np.full(part.shape, rng.choice((0.5, -1.0)), np.float32)
            self._say(f"inject {ref}")
            request = m.Inject(name=ref, dtype="float32", shape=part.shape)
            reply = self.user.branch(request, value.tobytes())
        if isinstance(reply, m.SessionList):
            self._epoch += 1
            self._made[self._session, self._branch()] = self._epoch
        return reply

    def _branch(self) -> str:
        """The one that is shown; "" where there is but one."""
        return next((b.name for b in self._stop().branches if b.current), "")

    def _of_branch(self) -> Key:
        made = self._made.get((self._session, self._branch()))
        return () if made is None else ("branch", made)

    # -- edits ---------------------------------------------------------------------------------

    def _edit(self, rng: Random) -> None:
        name, arguments = draw_edit(rng, self.user.document)
        self._say(f"{name}{arguments!r:.300}")
        before = self.user.document
        self.user.edit(name, arguments)
        self.counts.done["edits"] += self.user.document is not before
        self._changed()
        self._arrive()

    def _undo(self, rng: Random) -> None:
        for _ in range(rng.choice((1, 1, 2, 5))):
            self._take_back(self.user.undo)

    def _redo(self, rng: Random) -> None:
        for _ in range(rng.choice((1, 1, 2, 5))):
            self._take_back(self.user.redo)

    def _take_back(self, go: Callable[[], bool]) -> None:
        if not go():
            raise NothingError
        self.counts.done["undos"] += 1
        # In the window an arrangement comes when it is laid out, perhaps amid another move: what
        # lies between two edits of one move nobody has seen.
        now = _hash(self.user.document)
        if now != self._versions.get(self.user.index, now):
            raise BrokenError("undo", f"edit number {self.user.index} is not what it was")
        self._changed()
        self._arrive()

    def _changed(self) -> None:
        """The document is another one, perhaps."""
        before = self._run_by
        self._note_version()
        if self._run_by != before:
            self._epoch += 1
            self._given = dict.fromkeys(self._given, self._epoch)
            self._made = {key: self._epoch + n for n, key in enumerate(self._made, 1)}
            self._epoch += len(self._made)

    def _note_version(self) -> None:
        """What the edit now in force led to; what came after another one is forgotten with that, as
        is what was undone where two edits came amid one move."""
        index, now = self.user.index, _hash(self.user.document)
        if self._versions.get(index) != now:
            stays = min(self._noted, index - 1)
            self._versions = {i: v for i, v in self._versions.items() if i <= stays} | {index: now}
        self._noted = index
        self._run_by = _hash(_without_words(self.user.document))

    def _save(self, rng: Random) -> None:
        """The file of a document gives the same document, and the same file."""
        path = Path(self._folder, "saved.gradstep")
        self.user.save(path)
        written = path.read_bytes()
        again = gradstep_file.to_bytes(gradstep_file.load(path))
        self.counts.done["saves"] += 1
        if again != written or _short(written) != _hash(self.user.document):
            raise BrokenError("saved", "the document that was saved is another one when opened")

    # -- another engine ------------------------------------------------------------------------

    def _kill(self, rng: Random) -> None:
        """kill -9; a new engine comes to the same place, with the same values, in all sessions."""
        if self.user.program is None:
            raise NothingError
        before, told_before = self._frame(), told(self._stop())
        sessions = self.user.manage(m.ManageSessions(command="list"))
        self.user.kill()
        self.counts.done["kills"] += 1
        if self.user.program is None:
            raise BrokenError("place", "the document does not open after a restart")
        if told(self._stop()) != told_before:
            raise BrokenError("place", f"{told(self._stop())}; it was {told_before}")
        self._require_same("place", before, self._frame())
        now = self.user.manage(m.ManageSessions(command="list"))
        for old, new in zip(_listed(sessions), _listed(now), strict=True):
            if old != new:
                raise BrokenError("place", f"session {new}; it was {old}")

    def _fresh(self, rng: Random) -> None:
        """A new engine with the same document, led to the same place, has the same program and
        values."""
        if self.user.program is None:
            raise NothingError
        stop, position = self._stop(), Position.of(self._stop())
        alone = not stop.threads and self._session not in self._given and not self._of_branch()
        found = led(self.user, position if alone else None)
        if found is None:
            self._say("(not kept)")
            return
        self.counts.done["fresh"] += 1
        if told(found.stop) != told(stop):
            raise BrokenError("fresh", f"stands at {told(found.stop)}, and not at {told(stop)}")
        for name, one, other in found.program_differences(self.user.program):
            raise BrokenError("fresh", f"program.{name}: {one!r:.300} / {other!r:.300}")
        said, _ = self.user.ask(wording(self.user.program))
        if said != found.words:
            raise BrokenError("fresh", f"words: {said!r:.300} / {found.words!r:.300}")
        self._require_same("fresh", self._frame(), found.frame)

    def _ask(self, rng: Random) -> None:
        """What changes nothing."""
        question = draw_question(rng, self._program(), self._stop())
        self._say(repr(question)[:100])
        self.user.ask(question)
        self._arrive()

    # -- what must hold ------------------------------------------------------------------------

    def _arrive(self) -> None:
        """Wherever it stands: what is there is what was there the last time."""
        if self.user.program is None or self.user.stop is None:
            return
        if not self.looks:  # where it came is remembered all the same: moves are drawn from that
            self._seen.setdefault((*self._scope(), Position.of(self._stop())), ("", {}))
            return
        self._compare(Position.of(self._stop()), told(self._stop()), self._frame())

    def _compare(self, position: Position, said: str | None, frame: Frame) -> None:
        key = (*self._scope(), position)
        before = self._seen.get(key)
        if before is None:
            if said is not None:
                self._seen[key] = said, frame
            return
        self.counts.done["revisits"] += 1
        if said is not None and said != before[0]:
            raise BrokenError("revisit", f"{said}; it was {before[0]}")
        known = before[1] if said is not None else {r: before[1].get(r, "") for r in frame}
        self._require_same("revisit", known, frame, f" at {position}")

    def _scope(self) -> Key:
        """What the values at a place hang on. A session that was given nothing is like any other of
        the same document; with threads, it matters who moved when."""
        if self._stop().threads:
            return (
                *(self._run_by, self._session, self._stop_thread(), self._epoch),
                *self._of_branch(),
            )
        return self._run_by, *self._of_session(), *self._of_branch()

    def _of_session(self) -> Key:
        return (self._session, self._given[self._session]) if self._session in self._given else ()

    def _stop_thread(self) -> str:
        return next((thread.name for thread in self._stop().threads if thread.current), "")

    def _frame(self) -> Frame:
        reply, buffers = self.user.ask(reading(self._program(), self.user.document))
        if isinstance(reply, m.Failed):
            if reply.error.type in _GONE:
                raise NothingError
            raise BrokenError("revisit", f"nothing can be read: {reply.error.message}")
        return frame_of((reply, buffers))

    def _require_same(self, kind: str, before: Frame, now: Frame, where: str = "") -> None:
        found = [*differences(before, now)]
        if found:
            more = f" and {len(found) - 3} more" if len(found) > 3 else ""
            raise BrokenError(kind, f"{'; '.join(found[:3])}{more}{where}")

    def _stop(self) -> m.Stopped:
        if self.user.stop is None:
            raise NothingError
        return self.user.stop

    def _program(self) -> m.ProgramInfo:
        if self.user.program is None:
            raise NothingError
        return self.user.program


# Move -> how often it is made.
MOVES = {
    "control": 40,
    "there_and_back": 6,
    "train": 2,
    "revisit": 12,
    "edit": 26,
    "undo": 8,
    "redo": 5,
    "sessions": 7,
    "thread": 4,
    "branches": 8,
    "ask": 4,
    "save": 2,
    "fresh": 4,
    "kill": 4,
}


def kills(seed: int) -> bool:
    """Whether the walk of a seed kills its engine now and then."""
    return seed % _KILLING == 0


def reply_reason(reply: m.Message) -> str:
    return reply.reason if isinstance(reply, m.Stopped) else ""


def _listed(reply: m.Message) -> list[m.SessionInfo]:
    """Sessions as they are to come back: of the runs after the one it stands in nothing is left."""
    found = reply.sessions if isinstance(reply, m.SessionList) else []
    return [replace_runs(session, runs=0) for session in found]


def _with_canary(document: Document) -> Document:
    """Whose Python says so when it runs."""
    code = {
        name: CodeItem(name, item.kind, f"print({RAN!r})\n{item.source}")
        for name, item in document.code.items()
    }
    return document.with_(code=code)


def _without_words(document: Document) -> Document:
    blank = Document()
    words = {n: getattr(blank, n) for n in ("title", "note", "claim", "truth", "group")}
    return replace(document, view=blank.view, breakpoints=(), expectations=(), **words)


def _hash(document: Document) -> str:
    return _short(gradstep_file.to_bytes(document))


def _short(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()
