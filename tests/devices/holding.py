"""The profiles held to what the libraries answered: for each question, which cases differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend
from gradstep.gpu.rule_statuses import status_of
from tests.devices.questions import Question, questions

FOLDER = Path(__file__).resolve().parents[1] / "data" / "devices"
_ROUNDING = {
    "SparseSoftmaxCrossEntropyWithLogits": 1e-6,  # a logarithm is in it
    "Sqrt": 1.2e-7,  # PyTorch's is not always correctly rounded
}


@dataclass(frozen=True)
class Recording:
    """facts: version, machine, date. arrays: by "QUESTION|PART", as record.py wrote them."""

    library: str
    facts: dict[str, str]
    arrays: dict[str, np.ndarray]

    def has(self, question: str) -> bool:
        """Whether it was asked; of a type that the library does not take, every case failed."""
        raised = self.arrays.get(f"{question}|raised")
        return raised is not None and not (len(raised) > 1 and raised.all())

    def asked(self, name: str, question: Question) -> Question:
        """The question with the inputs that were asked."""
        inputs = tuple(self.arrays[f"{name}|in{i}"] for i in range(len(question.inputs)))
        return Question(question.corner, question.type, inputs, question.fixed, question.attrs)

    def raised(self, question: str) -> np.ndarray:
        return self.arrays[f"{question}|raised"]

    def outputs(self, question: str) -> list[np.ndarray]:
        """What the cases gave that did not raise, result by result; none where all did."""
        names = (f"{question}|out{i}" for i in range(2))
        return [self.arrays[name] for name in names if name in self.arrays]


@cache
def recording(library: str) -> Recording:
    with np.load(FOLDER / f"{library}.npz") as found:
        arrays = {name: found[name] for name in found.files}
    return Recording(library, json.loads(str(arrays.pop("facts"))), arrays)


def libraries() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.npz"))


def mismatches(library: str, name: str, every: int = 1) -> list[int]:
    """The cases in which a profile and the library of that name differ, of each `every`-th."""
    held = recording(library)
    question = held.asked(name, questions()[name])
    raised, wanted = held.raised(name), held.outputs(name)
    places = np.cumsum(~raised) - 1  # of a case among those that did not raise
    found = []
    for case in range(0, len(raised), every):
        given = _given(library, question, case)
        if raised[case] or given is None:
            same = bool(raised[case]) and given is None
        else:
            same = all(
                _same(result, each[places[case]], question.type)
                for result, each in zip(given, wanted, strict=False)
            )
        found += [] if same else [case]
    return found


def all_mismatches(every: int = 1) -> Iterator[tuple[str, str, str, int, list[int]]]:
    """Library, corner, question, number of cases, and those that differ, of what is measured."""
    for library in libraries():
        for name, question in questions().items():
            status = status_of(library, question.type, question.corner).status
            if recording(library).has(name) and status == "measured":
                cases = len(range(0, len(recording(library).raised(name)), every))
                yield library, question.corner, name, cases, mismatches(library, name, every)


def _given(profile: str, question: Question, case: int) -> list[np.ndarray] | None:
    """What the profile gives; None where it fails."""
    inputs = question.of(case)
    refs = tuple(TensorRef(f"x{i}") for i in range(len(inputs)))
    attrs: dict[str, Any] = {name: DType(value) for name, value in question.attrs.items()}
    op = Operation("y", question.type, refs, attrs=attrs)
    try:
        with np.errstate(all="ignore"):
            results = run_op(EmulatedBackend(PROFILES[profile]), op, inputs)
        return [np.asarray(result) for result in results]
    except GradstepError:
        return None


def _same(given: np.ndarray, wanted: np.ndarray, type_: str) -> bool:
    """To the bit, but for the sign of zero and the width of integers."""
    if given.shape != wanted.shape:
        return False
    if type_ in _ROUNDING:
        atol = 0 if type_ == "Sqrt" else 1e-6
        return bool(np.allclose(given, wanted, rtol=_ROUNDING[type_], atol=atol, equal_nan=True))
    return bool(np.array_equal(given, wanted, equal_nan=given.dtype.kind == "f"))
