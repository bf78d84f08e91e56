"""The plan of a run: its steps, where their values lie in memory and how long, what passes did."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import msgspec
import numpy as np

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.plan_report import report_plan
from gradstep.core.cli.output.plan_text import PlanText
from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.placed_calls import with_elsewhere
from gradstep.core.engine.kernels.kernel_choice import Kernels, with_kernels
from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.memory.reuse_layout import ReuseLayout
from gradstep.core.engine.passes.pass_pipeline import require_passes
from gradstep.core.engine.passes.pass_report import PassReport, optimize_and_report
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.host.profile_answers import pass_info
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """What the debugger would run (gradients and updates included), or what is fetched."""
    speed = shared_arguments.layout(args)
    require_passes(speed["without"])
    kernels = Kernels.of(speed["kernels"])
    loaded = load(args)
    backend = open_devices(args, app.devices(), loaded.document)
    plan = with_elsewhere(_compiled(loaded, args.fetch), backend)
    reports: list[PassReport] = []
    if speed["fast"]:
        plan, reports = optimize_and_report(plan, backend, speed["without"])
    plan = with_kernels(plan, backend, kernels)
    found = report_plan(_laid_out(plan, backend, speed["fast"]))
    passes = [pass_info(report, len(report.became)) for report in reports]
    mode = "fast" if speed["fast"] else "recorded"
    device = {"name": backend.name, "measured": backend.measured, "source": backend.source}
    data = {
        "mode": mode,
        "device": device,
        **msgspec.to_builtins(found),
        "passes": msgspec.to_builtins(passes),
    }
    text = PlanText(args.all).write(found, f"{mode} on {backend.name}", passes)
    return Answer(data, text)


def _compiled(loaded: Loaded, names: Sequence[str]) -> Plan:
    _ = loaded.document.graph.order  # a cycle is said first
    program = derive(loaded.document, loaded.functions) if names else sound_program(loaded)
    fetches, targets = _wanted(program, names)
    feeds = feed_arrays(program.graph, program.feeds)
    return compile_plan(program.graph, fetches, targets, infer_fed_types(feeds))


def _wanted(program: Program, names: Sequence[str]) -> tuple[Sequence[TensorRef], Sequence[str]]:
    """What to compute and what to run: of the names, or all that a run does."""
    if not names:
        return program.fetches, program.targets
    refs = [TensorRef.parse(name) for name in names]
    tensors = [ref for ref in refs if not _runs_only(program.graph, ref)]
    return tensors, [ref.op for ref in refs if _runs_only(program.graph, ref)]


def _runs_only(graph: Graph, ref: TensorRef) -> bool:
    """Whether `ref` names an operation without outputs. Raises GradstepError for an unknown one."""
    return ref.index == 0 and graph[ref.op] is not None and ref not in infer_declared(graph).types


def _laid_out(plan: Plan, backend: Backend, fast: bool) -> RecordLayout:
    return ReuseLayout(plan, may_part=backend.xp is np) if fast else RecordLayout(plan)
