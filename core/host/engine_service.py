"""The engine as one object: a request in, its reply out. No pipes, no process."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar
from weakref import ref

from msgspec import structs

from gradstep.core.cancellation import Cancelled, cancelled_when, check_cancelled
from gradstep.core.checks.expectations.expectation_capture import (
    add_expectations,
    capture_expectations,
)
from gradstep.core.checks.expectations.expectation_runs import check_expectations
from gradstep.core.checks.gradients.bottleneck_answers import find_bottlenecks, loss_for
from gradstep.core.checks.gradients.check_conclusion import Known
from gradstep.core.checks.gradients.gradient_checks import gradient_tables, table_of_node
from gradstep.core.checks.gradients.gradient_variants import compare_variants
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.recorded_disagreement import (
    disagreement_sentences,
    recorded_disagreement,
)
from gradstep.core.checks.known_of_first_run import find_known
from gradstep.core.checks.why.finiteness_survey import Surveyor
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.data.file_owner import files_of
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.breakpoint_specs import breakpoint_of
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.kept_branches import begin as begin_branches
from gradstep.core.document.kept_branches import keep
from gradstep.core.engine.placed_backend import open_placed
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.problems import Problem
from gradstep.core.graph.repeated_blocks import blocks_around
from gradstep.core.graph.scopes import parents
from gradstep.core.host import course_bytes
from gradstep.core.host.batch_answers import look_at_batch
from gradstep.core.host.borrowed_files import BorrowedFiles
from gradstep.core.host.branch_answers import branch_of, inject_value, manage_branches
from gradstep.core.host.class_answers import classify
from gradstep.core.host.comparison_answers import compare_devices, record_device
from gradstep.core.host.curve_answers import check_curves
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.edit_trials import run_by, try_remedy, with_remedies
from gradstep.core.host.held_document import (
    NO_REVISION,
    Loaded,
    OtherRevisionError,
    edited_document,
    opened_document,
    sent_document,
)
from gradstep.core.host.jacobian_answers import find_jacobian
from gradstep.core.host.lint_answers import diagnosed
from gradstep.core.host.moment_answers import compare_moments
from gradstep.core.host.precision_answers import examine_precision
from gradstep.core.host.profile_answers import Wish, profile_runs
from gradstep.core.host.program_reports import broken_numbers, report_stop
from gradstep.core.host.query_answers import find_moments
from gradstep.core.host.session_answers import assign_variable, manage_sessions
from gradstep.core.host.session_restore import Courses, begin, begin_all, follow_all
from gradstep.core.host.smallest_answers import answer_of, smallest_of
from gradstep.core.host.step_answers import compare_with_before, leave_out, weigh_rows
from gradstep.core.host.step_words import notate
from gradstep.core.host.stop_view import see
from gradstep.core.host.tensor_reads import known_in, read
from gradstep.core.host.tensors.history_answers import read_history
from gradstep.core.host.tensors.other_tensor import Place
from gradstep.core.host.tensors.tensor_answers import ANSWERS, Question, answer
from gradstep.core.host.told_program import ToldProgram
from gradstep.core.host.training_answers import train
from gradstep.core.host.watch_answers import read_watches
from gradstep.core.io.native.document_diff import differences
from gradstep.core.memory_release import forget_memos
from gradstep.core.ops.state.print_output import printing_to, say
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.program import sandbox
from gradstep.core.program.derive import compile_functions, derive, of_kind
from gradstep.core.program.gradient_context import Situation, situation_about, situation_of
from gradstep.core.program.questions.loaded_document import Loaded as WithFunctions
from gradstep.core.program.recent_programs import Derived, RecentPrograms
from gradstep.core.program.runnable_part import drop_unfinished
from gradstep.core.program.user_code import Function
from gradstep.core.progress import progress_to
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.error_records import info_of, info_of_problem
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.protocol_digest import protocol_digest
from gradstep.core.version import version

Answer = tuple[m.Message, tuple[Buffer, ...]]
Emit = Callable[[m.Event], None]
Terminal = Callable[[Sessions, m.RunLine], Answer]  # answers lines of the console

_PROGRESS = 0.1  # seconds between two reports of progress
_PATIENCE_S = 0.2  # for devices to say whether they are there; the window asks again


# A pause stops these where they are, and they can be gone on with; others it cuts off.
_MOVES = (m.Open, m.Edit, m.Control, m.Train, m.ManageSessions, m.Assign)
_PREPARED = object()
_CANCELLED = GradstepError("it was cancelled", kind="CancelledError")


def _nobody(event: m.Event) -> None:
    pass


def _never(kinds: Sequence[type[m.Request]]) -> bool:
    return False


def _seldom() -> None:
    """Leave it to Python when to look for garbage."""


class EngineService:
    """Answers requests one after another. Only `pause` and `supply` may be called from another
    thread.

    emit: gets the events: what user code prints, and the progress of long work.
    collect: called when a document was let go and the next is not there yet. What was left in
    cycles is a matter of the process: of one that holds more than this, a collection takes longer
    than most requests.
    terminal: the console, which is above this in the house.
    is_awaited: whether a request of one of these kinds has come, and waits for the one in progress.
    """

    def __init__(
        self,
        devices: DeviceServices,
        emit: Emit = _nobody,
        collect: Callable[[], None] = _seldom,
        terminal: Terminal | None = None,
        is_awaited: Callable[[Sequence[type[m.Request]]], bool] = _never,
    ) -> None:
        self._devices = devices
        self._is_awaited = is_awaited
        self._terminal = terminal
        self._emit = emit
        self._collect = collect
        self._loaded: Loaded | None = None
        self._told, self._recent = ToldProgram(), RecentPrograms()
        self._surveyor: Surveyor | None = None
        self._preparing: Iterator[None] = iter(())
        self._interrupted = threading.Event()
        self._borrowed: BorrowedFiles | None = None  # where the window is on another machine
        self._told_at = 0.0  # when progress was, or nothing yet of this request

    def handle(self, message: m.Message, buffers: Sequence[Buffer] = ()) -> Answer:
        """The reply to a request, with its buffers; Failed for what the user can put right."""
        moves = isinstance(message, _MOVES)
        above = message.gives_way_to if isinstance(message, m.Question) else ()
        unwanted = partial(self._is_unwanted, above) if above else self._interrupted.is_set
        try:
            with (
                printing_to(self._print),
                progress_to(self._tell_progress),
                files_of(self._borrowed),
                nullcontext() if moves else cancelled_when(unwanted),
            ):
                self._told_at = time.monotonic()
                if above:
                    check_cancelled()
                return self._HANDLERS[type(message)](self, message, buffers)
        except OtherRevisionError:
            held = NO_REVISION if self._loaded is None else self._loaded.revision
            return m.OtherRevision(revision=held), ()
        except GradstepError as error:
            return m.Failed(error=info_of(error)), ()
        except Cancelled:
            paused = self._interrupted.is_set() or not above
            return m.Failed(error=info_of(_CANCELLED)) if paused else m.GaveWay(), ()

    def prepare(self) -> bool:
        """Find something of what the next edit is made with, while nobody asks for anything;
        whether there is more. It takes some milliseconds."""
        try:
            return next(self._preparing, _PREPARED) is not _PREPARED
        except Exception as error:
            unforeseen("the next edit could not be prepared", error)
            return False

    def pause(self) -> None:
        """Stop the work in progress soon. Holds until `Control("pause")` itself is handled."""
        if not self._interrupted.is_set():
            self._interrupted.set()
            threading.Thread(target=_insist, args=(ref(self),), name="pause", daemon=True).start()

    def _pause_again(self) -> bool:
        """Whether there was need to: `Control("pause")` is still to come."""
        if (insists := self._interrupted.is_set()) and self._loaded is not None:
            self._loaded.sessions.pause()
        return insists

    def supply(self, reply: m.FileRows, buffers: Sequence[Buffer]) -> None:
        """What a request waits for that is under way, or that has given it up."""
        if self._borrowed is not None:
            self._borrowed.supply(reply, buffers)

    # -- requests ------------------------------------------------------------------------------

    def _greet(self, request: m.Greet, buffers: Sequence[Buffer]) -> Answer:
        self._borrowed = BorrowedFiles(self._emit, self._interrupted.is_set)
        return m.Greeted(version=version(), protocol=protocol_digest()), ()

    def _file_rows(self, request: m.FileRows, buffers: Sequence[Buffer]) -> Answer:
        return m.Done(), ()  # `supply` had them before

    def _open(self, request: m.Open, buffers: Sequence[Buffer]) -> Answer:
        if not request.keep_position:
            self._forget()
        document = opened_document(request, buffers)
        before = self._loaded
        courses = course_bytes.read(buffers[1]) if len(buffers) > 1 and buffers[1] else None
        problems, sent = self._load(request, document, before, courses)
        info = self._told.whole(self._session, problems)
        return m.Opened(program=info, stopped=report_stop(self._threads)), sent

    def _forget(self) -> None:
        """The document before, and what was found out about it. It goes before there is a program
        of the next one, which would lie scattered among it over memory that could not be given
        back."""
        self._loaded = self._surveyor = None
        self._preparing = iter(())
        self._told.forget()
        self._recent.forget()
        forget_memos()
        self._collect()

    def _edit(self, request: m.Edit, buffers: Sequence[Buffer]) -> Answer:
        document = edited_document(self._loaded, request.base, request.members, buffers)
        problems, courses = self._load(request, document, self._loaded)
        change = self._told.change(self._session, problems)
        stopped, values = self._seen(report_stop(self._threads), request.look)
        return m.Edited(change=change, stopped=stopped), (*(courses or (b"",)), *values)

    def _load(
        self,
        request: m.Open | m.Edit,
        document: Document,
        before: Loaded | None,
        courses: Courses | None = None,
    ) -> tuple[list[m.ProblemInfo], tuple[Buffer, ...]]:
        """Derive and begin; problems with breakpoints, and the raw buffer of Opened. before: the
        document before an edit, whose sessions stand where these are to come to; courses: what was
        sent of that."""
        backend = open_placed(request.device, document.graph, self._devices.open_backend)
        functions, problems = _compiled(document, request)
        edited = None if self._loaded is None else self._loaded.whole.threads.program
        document, program = self._derived(document, functions, edited)
        base, resting = (None, None) if before is None else before.base_of(program)
        rest = resting is not None and resting is base
        if problems:
            program = replace(program, problems=(*problems, *program.problems))

        def make(before: Scheduler | None = None) -> Scheduler:
            asked = self._interrupted.is_set  # a pause gives up initial operations, and only these
            return begin(program, backend, request.recorded_limit, before, rest, asked)

        courses = courses if before is None else before.courses
        sessions = begin_all(make, courses, None if base is None else base.sessions)
        if resting is not None and rest:
            resting.rest()
        gradients = of_kind(document, functions, CodeKind.GRADIENT)
        self._loaded = Loaded(document, request.revision, sessions, make, gradients, resting)
        self._preparing = _prepare_edit(sessions)
        if before is not None and before is not resting:
            before.rest()  # it is over: whenever Python looks for garbage, this is no memory
        if courses is not None:
            old = None if before is None else before.sessions
            begun = follow_all(sessions, courses, old)
            self._loaded = replace(self._loaded, begun=begun)
        elif before is None and document.branches:
            sessions.session.begin_branches(begin_branches(document.branches))
        refused: list[m.ProblemInfo] = []
        try:
            sessions.set_breakpoints(document.breakpoints)
        except GradstepError as error:
            refused = [info_of_problem(Problem.of(error, error.kind))]
        return refused, course_bytes.written(self._loaded.courses)

    def _derived(
        self, document: Document, functions: Mapping[str, Function], edited: Program | None
    ) -> Derived:
        """What runs of a document. edited: the program before the edit."""
        found = None if edited is None else self._recent.find(document, edited)
        if found is None:
            program = drop_unfinished(derive(document, functions, previous=edited))
            found = Derived(document, program)
        self._recent.keep(*found)
        return found

    def _control(self, request: m.Control, buffers: Sequence[Buffer]) -> Answer:
        threads = self._threads
        if request.command == "pause":
            self._interrupted.clear()
            return report_stop(threads), ()
        if self._interrupted.is_set():  # it was given before the pause, and never began
            return structs.replace(report_stop(threads), reason="pause"), ()
        before, branch = threads.current, branch_of(threads)
        if request.command == "thread":
            threads.switch(request.target)
        elif request.command == "iteration":
            threads.choose_iteration(request.target)
        else:
            threads.command(request.command, request.target)
        if branch_of(threads) != branch:
            self._forget_runs()
        said = report_stop(threads)
        if threads.current != before or self._told.is_other(threads.session):
            said = structs.replace(said, program=self._told.whole(threads.session))
        return self._seen(said, request.look)

    def _train(self, request: m.Train, buffers: Sequence[Buffer]) -> Answer:
        threads = self._threads
        if self._interrupted.is_set():
            stopped = structs.replace(report_stop(threads), reason="pause")
            return m.Trained(stopped=stopped, made=0), ()
        went = train(threads, request, self._emit)
        stopped, values = self._seen(report_stop(threads), request.look)
        wrong = {text: info_of(error) for text, error in went.wrong.items()}
        return m.Trained(stopped=stopped, made=went.made, ended=went.ended, wrong=wrong), values

    def _seen(
        self, stopped: m.Stopped, look: m.Look | None
    ) -> tuple[m.Stopped, tuple[Buffer, ...]]:
        """With what there is to see there. Whatever is wrong with that, the move was made; it is
        said when it is asked for by itself."""
        if look is None:
            return stopped, ()
        try:
            seen, buffers = see(self._open_document.sessions, look, self._survey)
        except GradstepError:
            return stopped, ()
        except Exception as error:
            unforeseen("what is looked at could not be told", error)
            return stopped, ()
        return structs.replace(stopped, seen=seen), buffers

    def _manage_sessions(self, request: m.ManageSessions, buffers: Sequence[Buffer]) -> Answer:
        loaded = self._open_document
        reply = manage_sessions(loaded.sessions, request, loaded.make, self._told.whole)
        reply = structs.replace(reply, stopped=self._with_program(reply.stopped))
        if request.command == "list":
            return reply, ()
        return reply, course_bytes.written(loaded.courses)

    def _assign(self, request: m.Assign, buffers: Sequence[Buffer]) -> Answer:
        loaded = self._open_document
        reply = assign_variable(loaded.sessions, request, buffers)
        return reply, course_bytes.written(loaded.courses)

    def _inject(self, request: m.Inject, buffers: Sequence[Buffer]) -> Answer:
        reply = inject_value(self._open_document.sessions, request, buffers)
        return self._branched(reply, request.look)

    def _manage_branches(self, request: m.ManageBranches, buffers: Sequence[Buffer]) -> Answer:
        reply = manage_branches(self._open_document.sessions, request)
        return self._branched(reply, request.look)

    def _keep_branches(self, request: m.KeepBranches, buffers: Sequence[Buffer]) -> Answer:
        document, threads = self._open_document.document, self._open_document.sessions.session
        branches = threads.to_be_kept
        kept = document.with_(branches=keep(branches))
        members, told = differences(document, kept).to_buffers()
        return m.BranchesKept(count=len(branches) - 1, members=members), tuple(told)

    def _with_program(self, stopped: m.Stopped) -> m.Stopped:
        """With the program of the branch that is shown now, if it is not the one that was told."""
        session = self._session
        if stopped.program is not None or not self._told.is_other(session):
            return stopped
        return structs.replace(stopped, program=self._told.whole(session))

    def _branched(self, reply: m.SessionList, look: m.Look | None) -> Answer:
        """With what there is to see. What was found of the runs that were shown before is not so in
        these."""
        self._forget_runs()
        stopped, values = self._seen(self._with_program(reply.stopped), look)
        courses = course_bytes.written(self._open_document.courses)
        return structs.replace(reply, stopped=stopped), (*(courses or (b"",)), *values)

    def _set_breakpoints(self, request: m.SetBreakpoints, buffers: Sequence[Buffer]) -> Answer:
        self._open_document.sessions.set_breakpoints(
            [breakpoint_of(spec) for spec in request.breakpoints]
        )
        return m.Done(), ()

    def _run_line(self, request: m.RunLine, buffers: Sequence[Buffer]) -> Answer:
        if self._terminal is None:
            raise GradstepError("this engine has no console", kind="UnavailableError")
        return self._terminal(self._open_document.sessions, request)

    def _read(self, request: m.Read, buffers: Sequence[Buffer]) -> Answer:
        session = self._session
        run, step = (None if n < 0 else n for n in (request.run, request.step))
        frame = session.view() if run is step is None else session.frame(run, step)
        return read(request, known_in(session.program.graph), frame)

    def _look_at_batch(self, request: m.LookAtBatch, buffers: Sequence[Buffer]) -> Answer:
        return look_at_batch(self._session, request), ()

    def _compare_step(self, request: m.CompareStep, buffers: Sequence[Buffer]) -> Answer:
        return compare_with_before(self._session, request), ()

    def _weigh_rows(self, request: m.WeighRows, buffers: Sequence[Buffer]) -> Answer:
        return weigh_rows(self._session, request), ()

    def _leave_out(self, request: m.LeaveOut, buffers: Sequence[Buffer]) -> Answer:
        return leave_out(self._session, request), ()

    def _classify(self, request: m.Classify, buffers: Sequence[Buffer]) -> Answer:
        return classify(self._session, request)

    def _look_at_slice(self, request: Question, buffers: Sequence[Buffer]) -> Answer:
        return answer(request, self._place(request.of), self._open_document.sessions)

    def _read_history(self, request: m.ReadHistory, buffers: Sequence[Buffer]) -> Answer:
        here, sessions = self._place(request.of), self._open_document.sessions
        return read_history(request, self._session, here, sessions), ()

    def _place(self, of: m.TensorSlice) -> Place:
        session = self._session
        run, step = (None if n < 0 else n for n in (of.run, of.step))
        frame = session.view() if run is step is None else session.frame(run, step)
        return Place(known_in(session.program.graph), frame)

    def _check_gradients(self, request: m.CheckGradients, buffers: Sequence[Buffer]) -> Answer:
        if request.node:
            return self._table_of_node(request.node, request.second_order), ()
        situations, text = self._situations(), "Checking gradients"
        all_wrt = [ref for each in situations for ref in each.request.wrt]
        given = situations[0].given
        total = 2 * sum(given[ref].size for ref in all_wrt if ref in given)
        evaluate = self._evaluator(text, total)
        expected = self._known().gradients
        here = expected if self._session.stop.run == 0 else ()  # it is about the first run
        table = gradient_tables(evaluate, situations, request.second_order, here)
        apart = recorded_disagreement(self._session.program, expected)
        sentences = (table.text, *disagreement_sentences(apart))
        return structs.replace(table, text=" ".join(filter(None, sentences))), ()

    def _known(self) -> Known:
        """What the document that the session runs says of its first run, and holds there."""
        opened, session = self._open_document, self._session
        functions = {**opened.gradients, **session.program.functions}
        document, program = run_by(opened.document, session), opened.whole.threads.program
        return find_known(document, functions, self._devices.open_backend, program)

    def _table_of_node(self, node: str, second_order: bool = False) -> m.GradientTable:
        return table_of_node(self._evaluator(), self._situations()[0], node, second_order)

    def _compare_variants(self, request: m.CompareVariants, buffers: Sequence[Buffer]) -> Answer:
        evaluate = self._evaluator("Comparing gradients", 2 * request.elements)
        return compare_variants(evaluate, self._situations(), request.elements), ()

    def _check_expectations(
        self, request: m.CheckExpectations, buffers: Sequence[Buffer]
    ) -> Answer:
        document = self._document_of(request, buffers)
        functions, _ = _compiled(document, request)
        opener = self._devices.open_backend
        known = None if self._loaded is None else self._loaded.whole.threads.program
        return m.Expectations(checked=check_expectations(document, functions, opener, known)), ()

    def _expect(self, request: m.Expect, buffers: Sequence[Buffer]) -> Answer:
        document = self._document_of(request, buffers)
        functions, _ = _compiled(document, request)
        opener = self._devices.open_backend
        found = capture_expectations(document, functions, opener, request.what, request.run)
        members, told = differences(document, add_expectations(document, found)).to_buffers()
        return m.Expected(count=len(found), members=members), tuple(told)

    def _notate(self, request: m.Notate, buffers: Sequence[Buffer]) -> Answer:
        return notate(self._session, request.ops), ()

    def _check_curves(self, request: m.CheckCurves, buffers: Sequence[Buffer]) -> Answer:
        return check_curves(self._session, request), ()

    def _watch(self, request: m.Watch, buffers: Sequence[Buffer]) -> Answer:
        return read_watches(self._session, request), ()

    def _find_moments(self, request: m.FindMoments, buffers: Sequence[Buffer]) -> Answer:
        return find_moments(self._session, request), ()

    def _why(self, request: m.Why, buffers: Sequence[Buffer]) -> Answer:
        found = self._explained(request)
        document = run_by(self._open_document.document, self._session)
        return m.Explained(explanation=with_remedies(document, found)), ()

    def _try_edit(self, request: m.TryEdit, buffers: Sequence[Buffer]) -> Answer:
        return try_remedy(self._session, self._open_document.document, request), ()

    def _explained(self, request: m.Why | m.FindSmallest) -> m.Explanation:
        session = self._session
        explainer = Explainer(
            self._asking(request.of),
            session.program.functions,
            session.backend,
            session,
            session.stop.run,
            session.stop.step,
        )
        if request.wrt:
            return explainer.gradient(request.of, request.wrt)
        return explainer.value(request.of)

    def _find_smallest(self, request: m.FindSmallest, buffers: Sequence[Buffer]) -> Answer:
        session, opened = self._session, self._open_document
        functions = {**opened.gradients, **session.program.functions}
        loaded = WithFunctions(run_by(opened.document, session), functions)
        about = session, loaded, request, self._explained, self._table_of_node
        recording = bytes(buffers[0]) if buffers else b""
        return answer_of(smallest_of(*about, self._devices, recording))

    def _diagnose(self, request: m.Diagnose, buffers: Sequence[Buffer]) -> Answer:
        return diagnosed(self._open_document.document, self._session, request.off), ()

    def _find_broken(self, request: m.FindBroken, buffers: Sequence[Buffer]) -> Answer:
        return self._survey(request.seconds), ()

    def _survey(self, seconds: float) -> m.BrokenNumbers:
        session = self._session
        if self._surveyor is None or self._surveyor.session is not session:
            self._surveyor = Surveyor(session, self._surveyor)
        return broken_numbers(self._surveyor, session.stop.run, seconds)

    def _forget_runs(self) -> None:
        """Other runs are shown than before."""
        if self._surveyor is not None:
            self._surveyor.forget_runs()

    def _find_bottlenecks(self, request: m.FindBottlenecks, buffers: Sequence[Buffer]) -> Answer:
        here, derived = self._situation(), self._session.program.derived
        losses = [y for one in derived for y in one.of] or [*here.request.of]
        of = request.of or loss_for(here, request.wrt, losses)
        return find_bottlenecks(self._asking(of), of, request.wrt), ()

    def _find_jacobian(self, request: m.FindJacobian, buffers: Sequence[Buffer]) -> Answer:
        def tell(done: int, total: int) -> None:
            self._tell_progress(f"Jacobian of {request.node}", done, total)

        return find_jacobian(self._session, request.node, tell)

    def _find_repeats(self, request: m.FindRepeats, buffers: Sequence[Buffer]) -> Answer:
        graph = flatten_loops(self._session.program.forward)
        scopes = {*(found := blocks_around(graph, request.names))}
        names = [name for name in graph.operations if not scopes.isdisjoint(parents(name))]
        return m.Repeats(scopes=[*found], names=names), ()

    def _compare(self, request: m.Compare, buffers: Sequence[Buffer]) -> Answer:
        about = self._session.program, request, buffers
        return compare_devices(*about, self._devices, self._emit), ()

    def _record_device(self, request: m.RecordDevice, buffers: Sequence[Buffer]) -> Answer:
        loaded = self._open_document
        return record_device(loaded.document, self._session.program, request, self._devices)

    def _compare_moments(self, request: m.CompareMoments, buffers: Sequence[Buffer]) -> Answer:
        found = compare_moments(self._open_document.sessions, request, self._devices)
        return m.Compared(comparisons=[found]), ()

    def _profile(self, request: m.Profile, buffers: Sequence[Buffer]) -> Answer:
        session = self._session
        wish = Wish(request.mode, request.runs, request.without, request.kernels, threads=True)
        tell = self._teller("Measuring", 100)
        start = session.timeline.start.copy()
        found = profile_runs(
            session.program, session.backend, start, wish, lambda share: tell(int(100 * share))
        )
        return found, ()

    def _examine_precision(self, request: m.ExaminePrecision, buffers: Sequence[Buffer]) -> Answer:
        return examine_precision(self._session, request), ()

    def _list_devices(self, request: m.Devices, buffers: Sequence[Buffer]) -> Answer:
        return m.DeviceList(devices=self._devices.describe(_PATIENCE_S)), ()

    _HANDLERS: ClassVar[dict[type, Callable[[EngineService, Any, Sequence[Buffer]], Answer]]] = {
        m.Greet: _greet,
        m.FileRows: _file_rows,
        m.Open: _open,
        m.Edit: _edit,
        m.Control: _control,
        m.Train: _train,
        m.ManageSessions: _manage_sessions,
        m.Assign: _assign,
        m.Inject: _inject,
        m.ManageBranches: _manage_branches,
        m.KeepBranches: _keep_branches,
        m.SetBreakpoints: _set_breakpoints,
        m.RunLine: _run_line,
        m.Read: _read,
        m.LookAtBatch: _look_at_batch,
        m.CompareStep: _compare_step,
        m.WeighRows: _weigh_rows,
        m.LeaveOut: _leave_out,
        m.ExaminePrecision: _examine_precision,
        m.RecordDevice: _record_device,
        m.FindSmallest: _find_smallest,
        m.TryEdit: _try_edit,
        m.Classify: _classify,
        **dict.fromkeys(ANSWERS, _look_at_slice),
        m.ReadHistory: _read_history,
        m.CheckGradients: _check_gradients,
        m.CompareVariants: _compare_variants,
        m.CheckExpectations: _check_expectations,
        m.Expect: _expect,
        m.Notate: _notate,
        m.CheckCurves: _check_curves,
        m.Watch: _watch,
        m.FindMoments: _find_moments,
        m.Why: _why,
        m.Diagnose: _diagnose,
        m.FindBottlenecks: _find_bottlenecks,
        m.FindJacobian: _find_jacobian,
        m.FindRepeats: _find_repeats,
        m.FindBroken: _find_broken,
        m.Compare: _compare,
        m.CompareMoments: _compare_moments,
        m.Profile: _profile,
        m.Devices: _list_devices,
    }

    # -- what they share -------------------------------------------------------------------------

    def _document_of(
        self, request: m.CheckExpectations | m.Expect, buffers: Sequence[Buffer]
    ) -> Document:
        if request.base == NO_REVISION:
            return sent_document(buffers)
        return edited_document(self._loaded, request.base, request.members, buffers)

    @property
    def _open_document(self) -> Loaded:
        if self._loaded is None:
            raise GradstepError("no document is open", kind="FailedPreconditionError")
        return self._loaded

    @property
    def _threads(self) -> Scheduler:
        return self._open_document.threads

    @property
    def _session(self) -> DebugSession:
        """The current thread's."""
        return self._threads.session

    def _situation(self) -> Situation:
        """Gradients as of the current run: at the variables that it started with."""
        return situation_of(self._session, self._open_document.gradients)

    def _asking(self, of: str) -> Situation:
        """The same, with the answer that the graph itself has about `of`."""
        return situation_about(self._session, self._open_document.gradients, of)

    def _situations(self) -> Sequence[Situation]:
        """The same of all that was derived, one after another; at least one."""
        here = self._situation()
        return [*here.each(self._session.program.derived)] or [here]

    def _evaluator(self, text: str = "", total: int = 0) -> Evaluator:
        """Runs graphs with the document's functions, and tells how far it is."""
        tell, runs = self._teller(text, total), itertools.count(1)
        return Evaluator(self._session.program.functions, lambda: tell(next(runs)))

    def _teller(self, text: str, total: int) -> Callable[[int], None]:
        """Called with how much of `total` is done: reports it now and then."""
        return lambda done: self._tell_progress(text, min(done, total), total) if text else None

    def _tell_progress(self, text: str, done: int, total: int) -> None:
        """Report it, unless the last report, or the request, is too young."""
        if time.monotonic() - self._told_at > _PROGRESS:
            self._told_at = time.monotonic()
            self._emit(m.Progress(text=text, done=done, total=total))

    def _is_unwanted(self, kinds: Sequence[type[m.Request]]) -> bool:
        return self._interrupted.is_set() or self._is_awaited(kinds)

    def _print(self, text: str) -> None:
        self._emit(m.Output(text=text))


def _insist(service: ref[EngineService]) -> None:
    # A command that begins forgets earlier pauses; one that was just beginning is told again.
    while (there := service()) is not None and there._pause_again():
        del there  # or it would never go
        time.sleep(0.01)


def _prepare_edit(sessions: Sessions) -> Iterator[None]:
    """Of the programs of all that there are when it begins: others may come, or go, meanwhile."""
    for scheduler in [*sessions.by_name.values()]:
        for session in scheduler.sessions:
            yield from session.timeline.prepare_edit()


def _compiled(
    document: Document, request: m.Open | m.Edit | m.CheckExpectations | m.Expect
) -> tuple[Mapping[str, Function], list[Problem]]:
    """Its Python, as far as it may run here."""
    if request.trusted and request.confined and not sandbox.is_confined():
        raise GradstepError(
            "this document's Python is to run without network and files, and this engine has them"
            + (f": {reason}" if (reason := sandbox.why_not()) else ""),
            kind="UnavailableError",
            hint="gradstep doctor says what the machine lacks",
        )
    return compile_functions(document, request.trusted, say)
