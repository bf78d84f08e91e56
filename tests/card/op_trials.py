"""One op type on all of its samples, on NumPy and on the device, by itself and given `out`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradstep.core.engine.calls.bfloat16_kernels import any_bfloat16
from gradstep.core.engine.calls.op_evaluation import bind_out, host_inputs, run_op
from gradstep.core.engine.device_transfer import get, put
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from gradstep.gpu.device_run import Outcome
from gradstep.gpu.lockstep import Turn
from gradstep.gpu.result_agreement import verdict_on
from tests.card.device import Device
from tests.support.op_cases import Case, make

# Every op has samples in these; what it does not take in the others, no row tells of.
_DECLARED = (np.float16, np.float32, np.float64)
_OTHERS = (np.complex64, np.int32)
# What PyTorch has beside: every element type that Gradstep knows.
_ALL_OTHERS = (
    *(BFLOAT16, np.complex64, np.complex128, np.int8, np.int16, np.int32, np.int64),
    *(np.uint8, np.uint16, np.uint32, np.uint64),
)
_SHOWN = ("equal", "nan_mismatches", "max_abs", "rel_l2", "ulp_p99", "scaled")
_CPU = NumpyBackend()


def types() -> list[str]:
    """The op types that can be tried by themselves."""
    return [d.type for d in all_ops() if d.samples is not None and d.kernel.plain is not None]


def try_one(device: Device, task: str) -> dict[str, Any]:
    """task: "op|cupy|TYPE", and "|quick" for float32 alone. `rows`: one for each sample, element
    type and form; lost: whether the device answers no more."""
    _, _, name, *quick = task.split("|")
    definition = lookup(name)
    found: dict[str, Any] = {"rows": []}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        others = _ALL_OTHERS if device.kind.startswith("torch") else _OTHERS
        declared = (np.float32,) if quick else _DECLARED
        for case, named in trials(definition, () if quick else others, declared):
            found["rows"] += [{**named, **row} for row in _rows(device, case)]
            try:
                device.sync()
            except Exception as error:
                return {**found, "lost": str(error)}
    device.free()
    return found


def trials(
    definition: OpDef, others: Sequence[Any] = _OTHERS, declared: Sequence[Any] = _DECLARED
) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Every sample in every element type that makes another case of it, and its name."""
    assert definition.samples is not None
    for index, sample in enumerate(definition.samples(np.random.default_rng(7))):
        seen: set[str] = set()
        for dtype in (*declared, *others):
            try:
                case = make(definition, sample, dtype)
            except GradstepError:
                if dtype in others or dtype is np.float16:
                    continue
                raise
            said = repr(([x.dtype.name for x in case.inputs], sorted(case.operation.attrs.items())))
            if said not in seen:
                seen.add(said)
                yield case, {"sample": index, "dtype": np.dtype(dtype).name}


def _rows(device: Device, case: Case) -> Iterator[dict[str, Any]]:
    inputs = [np.asarray(x) for x in case.inputs]
    state = case.definition.state
    inputs += [state.first_count(case.operation)] if state.counter else []
    wanted = _outcome(lambda: run_op(_CPU, case.operation, [_CPU.put(x) for x in inputs]), _CPU)
    if wanted.error is not None and _is_refusal(wanted.error):
        return  # no op for such numbers
    backend = device.backend()
    before: dict[str, int] = {}
    on_host = host_inputs(case.definition, len(case.operation.inputs))

    def given() -> list[Any]:
        """Shapes and axes are where kernels read them, as in a plan."""
        return [x if n in on_host else put(backend, x) for n, x in enumerate(inputs)]

    def plain() -> Any:
        there = given()
        before.update(device.count())
        made = run_op(backend, case.operation, there)
        counted.update(device.counted(before))
        return made

    counted: dict[str, int] = {}
    yield {**_judged(case, inputs, wanted, _outcome(plain, backend), backend.rules), **counted}
    function = bind_out(backend, case.operation)
    if function is not None and wanted.ok and not any_bfloat16((*inputs, *wanted.outputs)):
        found = _outcome(lambda: _given_out(backend, function, given(), wanted), backend)
        yield {**_judged(case, inputs, wanted, found, backend.rules), "form": "out"}


def _is_refusal(error: GradstepError) -> bool:
    """Whether NumPy itself fails on such numbers, which no rule of the op foresees."""
    return error.kind == "InternalError" or isinstance(error.__cause__, TypeError)


def _given_out(backend: Any, function: Any, inputs: list[Any], wanted: Outcome) -> Any:
    outs = [backend.empty(x.shape, x.dtype) for x in wanted.outputs]
    function(*inputs, out=outs[0] if len(outs) == 1 else tuple(outs))
    return outs


def _outcome(run: Any, backend: Any) -> Outcome:
    try:
        return Outcome(tuple(np.asarray(get(backend, x)) for x in run()))
    except GradstepError as error:
        return Outcome(error=error)
    except Exception as error:
        refusal = GradstepError(f"{type(error).__name__}: {error}", kind="InternalError")
        refusal.__cause__ = error
        return Outcome(error=refusal)


def _judged(
    case: Case, inputs: list[Any], wanted: Outcome, found: Outcome, rules: Rules
) -> dict[str, Any]:
    """By the tolerances of the comparison that users see (gpu/tolerances.py). rules: those that
    the device runs under."""
    turn = Turn(case.operation, wanted, found, found, Outcome(available=False), tuple(inputs))
    verdict = verdict_on(turn, (_CPU.rules, rules))
    if found.error is not None:
        same = wanted.error is not None and wanted.error.kind == found.error.kind
        cause = found.error.__cause__ or found.error
        said = f"{type(cause).__name__}: {' '.join(str(cause).split())[:300]}"
        return {"verdict": "raises alike" if same else "refused", "text": said}
    if wanted.error is not None:
        return {"verdict": "differs", "text": f"only NumPy raises: {wanted.error}"[:300]}
    row: dict[str, Any] = {"verdict": verdict.verdict}
    if verdict.verdict != "equal":
        row |= {k: float(f"{v:.3g}") for k, v in verdict.metrics.items() if k in _SHOWN}
    if verdict.verdict == "differs":
        row["text"] = _sides(wanted.outputs[verdict.output], found.outputs[verdict.output])
    return row


def _sides(a: np.ndarray, b: np.ndarray) -> str:
    """What is on both sides, where it is not the same first."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{list(a.shape)} here, {b.dtype}{list(b.shape)} there"
    apart = np.flatnonzero((a != b).reshape(-1) & ~((a != a) & (b != b)).reshape(-1))[:4]
    here, there = a.reshape(-1)[apart].tolist(), b.reshape(-1)[apart].tolist()
    return f"at {apart.tolist()} of {a.size}: {here} here, {there} there"[:300]
