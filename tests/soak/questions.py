"""A question of each kind that a panel, a menu or the console asks and that changes nothing, about
something of a program."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import get_args

from gradstep.core.document.lint_remedies import RemedyKind
from gradstep.core.protocol import data_queries, precision_queries, step_queries
from gradstep.core.protocol import messages as m
from gradstep.core.protocol import tensor_queries as t
from gradstep.core.protocol.branch_queries import CompareMoments, Moment
from gradstep.core.protocol.class_queries import Classify, RowShare
from gradstep.core.protocol.jacobian_queries import FindJacobian
from gradstep.core.protocol.vocabulary import HistoryKind, RunMode, WhichMoment
from gradstep.gpu.emulated_systems import PROFILES
from tests.soak.drawing import pick

_EMULATED = [f"emulate:{name}" for name in PROFILES]
_CONDITIONS = ("nan", "x > 0", "isinf(x)", "x == max")
_LINES = ("print(1 + 1)", "stop", "where", "values[", "grad", "nonsense", "import os")


def draw_question(rng: Random, program: m.ProgramInfo, stop: m.Stopped) -> m.Request:
    """Raises NothingError where the program has no tensor."""
    refs = [ref for step in program.steps for ref in step.outputs]
    ref, other = pick(rng, refs), pick(rng, refs)
    kinds = (_of_gradients, _of_checks, _of_devices, _of_runs, _of_tensors, _of_the_console)
    return rng.choice(rng.choice(kinds)(rng, ref, other, stop.runs))


def _of_gradients(rng: Random, ref: str, other: str, runs: int) -> Sequence[m.Request]:
    name = ref.partition(":")[0]
    return (
        m.Why(of=ref), m.Why(of=ref, wrt=other), m.FindBroken(), m.Notate(ops=[name]),
        m.FindBottlenecks(of=ref, wrt=other), m.FindRepeats(names=[name]),
        m.FindSmallest(of=ref), m.FindSmallest(of=ref, wrt=other), m.FindSmallest(node=name),
        FindJacobian(node=name),
        m.TryEdit(kind=rng.choice(get_args(RemedyKind)), names=[ref, name], of=other, wrt=[ref]),
    )  # fmt: skip


def _of_checks(rng: Random, ref: str, other: str, runs: int) -> Sequence[m.Request]:
    name = ref.partition(":")[0]
    scopes = [name.rpartition("/")[0]]
    formats = get_args(precision_queries.FormatName)
    return (
        m.CheckGradients(node=name), m.CheckGradients(node=name, second_order=True),
        m.CompareVariants(), m.CompareVariants(elements=3), m.Diagnose(),
        precision_queries.ExaminePrecision(format=rng.choice(formats), target=ref),
        precision_queries.ExaminePrecision(format=rng.choice(formats), scopes=scopes, steps=2),
    )  # fmt: skip


def _of_devices(rng: Random, ref: str, other: str, runs: int) -> Sequence[m.Request]:
    device, node = rng.choice(_EMULATED), ref.partition(":")[0]
    return (
        m.Compare(left="cpu", against=[device], go_on=rng.random() < 0.5),
        m.FindSmallest(node=node, against=device),
        m.Profile(runs=1, mode=rng.choice(get_args(RunMode))),
    )


def _of_runs(rng: Random, ref: str, other: str, runs: int) -> Sequence[m.Request]:
    run = rng.randint(-1, runs + 1)
    moments = Moment(run=run), Moment(run=rng.randint(0, runs), step=rng.randint(0, 9))
    which, share = rng.choice(get_args(WhichMoment)), rng.choice(get_args(RowShare))
    expression = f'norm(x["{ref}"]) > {rng.randint(0, 2)}'
    return (
        m.FindMoments(text=expression, which=which), m.FindMoments(text="nan", which=which),
        step_queries.CompareStep(run=run), step_queries.WeighRows(run=run, seconds=0.02),
        step_queries.LeaveOut(run=run, places=[rng.randint(0, 9)]),
        data_queries.LookAtBatch(run=run, limit=4), Classify(share=share, worst=3),
        CompareMoments(left=moments[0], right=moments[1]),
    )  # fmt: skip


def _of_tensors(rng: Random, ref: str, other: str, runs: int) -> Sequence[m.Request]:
    run, step = rng.randint(-1, runs), rng.randint(-1, 9)
    minus = rng.choice((None, t.OtherTensor(ref=other), t.OtherTensor(earlier=1)))
    index = rng.choice(("", "", "0", "..., 0", ":1", "9"))
    of = t.TensorSlice(ref=ref, run=run, step=step, index=index, minus=minus)
    return (
        m.Read(refs=[ref, other], run=run, step=step), t.ReadTable(of=of, rows=4, columns=4),
        t.DrawTensor(of=of, height=8, width=8, channels=rng.random() < 0.3),
        t.DrawLines(of=of, width=16), t.DescribeTensor(of=of, percents=[0, 50], bins=4),
        t.FindElement(of=of, condition=rng.choice(_CONDITIONS)),
        t.ReadHistory(of=of, what=rng.choice(get_args(HistoryKind))),
        t.SaveTensor(of=of, format=rng.choice((".npy", ".csv", "text"))),
    )  # fmt: skip


def _of_the_console(rng: Random, ref: str, other: str, runs: int) -> Sequence[m.Request]:
    line = rng.choice((*_LINES, ref, f'x["{ref}"]', f'grad["{other}"]'))
    return (
        m.Watch(texts=[f'norm(x["{ref}"])', f'grad["{other}"]'], most=8),
        m.CheckCurves(texts=[f'norm(x["{ref}"])', f'grad["{other}"]', "loss"], losses=[other]),
        m.RunLine(line=line), m.RunLine(line=line, complete=True),
    )  # fmt: skip
