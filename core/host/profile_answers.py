"""What a program's operations cost, recorded or fast, as the message that the window shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.kernels.kernel_choice import AUTO, Kernels
from gradstep.core.engine.passes.pass_pipeline import PASSES, require_passes
from gradstep.core.engine.passes.pass_report import PassReport, optimize_and_report, stand_ins
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.layout_choice import laid_out
from gradstep.core.engine.run.step_costs import Cost, Profile, measure, require_times
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.ops.state.queue import Queue
from gradstep.core.program.prefill_queues import prefill_queues
from gradstep.core.protocol.messages import PassInfo, Profiled, ProfileRow

MODES = ("recorded", "fast")
_NOT_FAST = "a variable has no value when the run starts, or no fixed shape, so it ran recorded"
_SHOWN = 200  # operations of which a pass says what became of them


@dataclass(frozen=True)
class Wish:
    """How to measure: see messages.Profile."""

    mode: str = "recorded"
    runs: int = 0
    without: Sequence[str] = ()
    kernels: str | Sequence[str] = ()
    threads: bool = False

    def require(self) -> None:
        """Raises GradstepError for what cannot be asked for."""
        if self.mode not in MODES:
            raise GradstepError(
                f"there is no mode '{self.mode}'", kind="ValueError", hint=" or ".join(MODES)
            )
        if self.runs < 0:
            raise GradstepError(f"{self.runs} runs cannot be made", kind="ValueError")
        require_passes(self.without)


def profile_runs(
    program: Program,
    backend: Backend,
    store: VariableStore,
    wish: Wish,
    before: Callable[[float], None] = lambda share: None,
) -> Profiled:
    """Measure the program's runs on the variables of `store`, which change. What it prints is
    thrown away. Raises GradstepError for a device without times, and when a step fails.

    before: gets what share of the work is done before each run.
    """
    wish.require()
    require_times(backend)
    kernels = Kernels.of(AUTO if AUTO in wish.kernels else wish.kernels)
    feeds = feed_arrays(program.graph, program.feeds)
    plan = compile_plan(program.graph, program.fetches, program.targets, infer_fed_types(feeds))
    asked = wish.mode == "fast"
    better, reports = optimize_and_report(plan, backend, wish.without) if asked else (plan, [])
    rewrite = (lambda _: better) if asked else None
    with printing_to(nowhere):
        threads = wish.threads and bool(program.threads)
        anew = prefill_queues(program, backend, store) if threads else {}
        recording = laid_out(plan, backend, program.functions, store, rewrite, kernels)
        recording.feed(feeds)
        with _saying_when(threads):
            found = measure(recording, store, wish.runs, before, anew)
    fast = isinstance(recording, FastRun)
    return Profiled(
        mode="fast" if fast else "recorded",
        runs=found.runs,
        seconds=found.seconds,
        rows=_rows(found, recording.plan, stand_ins(plan, recording.plan)),
        passes=[pass_info(report) for report in reports] if fast else _left_out(),
        device=backend.name,
        text="; ".join(_remarks(plan, asked and not fast, anew)),
    )


@contextmanager
def _saying_when(threads: bool) -> Iterator[None]:
    """A run that waits although threads filled the queues is told when they did."""
    try:
        yield
    except GradstepError as error:
        if threads and error.kind == "DeadlineExceededError":
            error.hint = (
                "threads fill the queues before a measured run, not during it: let the queue hold "
                f"as much as a run takes; or {error.hint}"
            )
        raise


def _remarks(plan: Plan, not_fast: bool, queues: Mapping[str, Queue]) -> Iterator[str]:
    """What was not as one might think."""
    if not plan.steps:
        yield "there is nothing to run"
    if not_fast:
        yield _NOT_FAST
    if queues:
        said = ", ".join(f"{name} has {queue.filling}" for name, queue in queues.items())
        yield f"each run starts with the queues as the threads fill them: {said}"


def _rows(found: Profile, plan: Plan, instead: Mapping[str, int]) -> list[ProfileRow]:
    """A row for each step. instead: operation -> the value that is its own, too."""
    also: dict[int, list[str]] = {}
    for name, value in instead.items():
        also.setdefault(plan.made_by[value], []).append(name)
    return [_row(plan, cost, also.get(i, [])) for i, cost in enumerate(found.costs)]


def _row(plan: Plan, cost: Cost, shared: list[str]) -> ProfileRow:
    op, iteration = cost.step.op, cost.step.iteration
    kernel = plan.kernels.get(op.name)
    return ProfileRow(
        op=op.name,
        type=op.type,
        phase=op.phase.value,
        origin=owner(op),
        seconds=cost.seconds,
        bytes_made=cost.made,
        bytes_read=cost.read,
        calls=cost.calls,
        kernel="" if kernel is None else kernel.library.name,
        differs="" if kernel is None else kernel.differs,
        also=[*cost.step.also, *shared],
        iterations=cost.iterations,
        inside=[_row(iteration.plan, each, []) for each in cost.inside] if iteration else [],
    )


def pass_info(report: PassReport, shown: int = _SHOWN) -> PassInfo:
    """The report as a record that says of `shown` operations what became of them."""
    made = report.made
    return PassInfo(
        name=made.name,
        text=made.text,
        on=report.on,
        steps_before=report.before,
        steps_after=report.after,
        same_bits=report.same_bits,
        differs=made.differs,
        gone=dict(islice(report.became.items(), shown)),
        gone_count=len(report.became),
    )


def _left_out() -> list[PassInfo]:
    """The passes, none of which ran."""
    return [pass_info(PassReport(made)) for made in PASSES]
