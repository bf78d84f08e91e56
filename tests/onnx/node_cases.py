"""One case of ONNX's node suite, opened as a user's model and run; the recorded ones' archive."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph
from gradstep.core.graph.number_kinds import is_bfloat16, widened
from gradstep.core.io.onnx.onnx_document import from_onnx
from gradstep.core.io.onnx.onnx_messages import message
from gradstep.core.io.onnx.onnx_names import Names
from gradstep.core.program.derive import derive

ARCHIVE = Path(__file__).parents[1] / "data" / "onnx" / "node_cases.tar.xz"
_SHORT = 2.0**-6  # of bfloat16, as in ONNX's own runner
# Zeros of a transform are what its own rounding left: the suite's are of float32.
_NOISE = {"DFT": 5e-6}
_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """name: ONNX's. arrays: as record_cases.py wrote them."""

    name: str
    arrays: Mapping[str, np.ndarray]

    @classmethod
    def of_bytes(cls, name: str, data: bytes) -> Case:
        with np.load(io.BytesIO(data)) as file:
            return cls(name, dict(file))

    @cached_property
    def model(self) -> Any:
        """The ModelProto."""
        made = message("ModelProto")()
        made.ParseFromString(self.arrays["model"].tobytes())
        return made

    @property
    def tolerance(self) -> tuple[float, float]:
        """Relative and absolute: ONNX's own."""
        relative, absolute = self.arrays["tolerance"].tolist()
        noise = (_NOISE.get(node.op_type, 0.0) for node in self.model.graph.node)
        return relative, max(absolute, *noise)

    @property
    def sets(self) -> Iterator[int]:
        number = 0
        while any(key.startswith(f"{number}_") for key in self.arrays):
            yield number
            number += 1

    def given(self, number: int) -> dict[str, np.ndarray]:
        """What goes in, by the names of inputs."""
        names = [one.name for one in self.model.graph.input]
        keys = {name: f"{number}_in_{place}" for place, name in enumerate(names)}
        return {name: self.arrays[key] for name, key in keys.items() if key in self.arrays}

    def with_constants(self) -> bytes:
        """The model with whole numbers, and single ones, of its data in place of inputs."""
        made = message("ModelProto")()
        made.CopyFrom(self.model)
        declared = {one.name: one.type.tensor_type.elem_type for one in made.graph.input}
        for name, array in self.given(0).items():
            kind = _TYPES.get(str(array.dtype))
            if declared[name] == kind and (array.dtype.kind in "iub" or array.size <= 8):
                made.graph.initializer.add(
                    name=name,
                    data_type=kind,
                    dims=array.shape,
                    raw_data=array.tobytes(),
                )
        data: bytes = made.SerializeToString()
        return data

    def wanted(self, number: int) -> list[np.ndarray]:
        """What has to come out."""
        count = len(self.model.graph.output)
        return [self.arrays[f"{number}_out_{place}"] for place in range(count)]


@dataclass(frozen=True)
class Verdict:
    """problem: what is wrong; "" for nothing. is_fixed: inputs that say how (a shape, an axis) were
    made a part of the model, which they have to be here."""

    problem: str
    is_fixed: bool = False


def judge(case: Case) -> Verdict:
    """Open it, run it on all its data, and compare."""
    try:
        document, is_fixed = opened_case(case)
        if unlowered := _unlowered(document.graph):
            type, why = next(iter(unlowered.items()))
            return Verdict(f"{type}: {why}", is_fixed)
        return Verdict(_difference(case, document), is_fixed)
    except GradstepError as error:
        return Verdict(error.message)


def opened_case(case: Case) -> tuple[Document, bool]:
    """Its document, and whether whole numbers, and single ones, that it is given had to be made a
    part of the model for it."""
    document = from_onnx(case.model.SerializeToString(), case.name)
    if not _unlowered(document.graph):
        return document, False
    return from_onnx(case.with_constants(), case.name), True


def _unlowered(graph: Graph) -> dict[str, str]:
    return {op.type: str(op.attrs.get("_why")) for op in graph if "." in op.type}


def _difference(case: Case, document: Document) -> str:
    """The first output that is not as it has to be, and how; "" where all are."""
    program = derive(document)
    session = Session(program.graph, initial=program.initial)
    for number in case.sets:
        feeds = feeds_of(program.graph, case.given(number))
        found = session.run(list(document.fetches), feeds)
        wanted = case.wanted(number)
        if len(found) != len(wanted):
            return f"{len(found)} outputs, and not {len(wanted)}"
        for place, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
            if words := _apart(np.asarray(ours), theirs, *case.tolerance):
                return f"output {place}: {words}"
    return ""


def feeds_of(graph: Graph, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Data by the names of inputs, for the placeholders that stand for these."""
    found = {}
    for name, array in given.items():
        own = Names().unique(name, "input").replace(".", "/")
        if own in graph and graph[own].type == "Placeholder":
            kind = graph[own].attrs["dtype"].numpy
            found[f"{own}:0"] = _texts(array) if kind.hasobject else array.astype(kind)
    return found


def _texts(array: np.ndarray) -> np.ndarray:
    found = np.empty(array.size, object)
    found[:] = [text.encode() for text in array.reshape(-1).tolist()]
    return found.reshape(array.shape)


def _apart(ours: np.ndarray, theirs: np.ndarray, relative: float, absolute: float) -> str:
    """In words; "" where they agree as far as ONNX's own runner asks."""
    relative = max(relative, _SHORT) if is_bfloat16(ours) else relative
    ours = widened(ours)
    theirs = _texts(theirs) if ours.dtype == object else theirs
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return f"{ours.dtype}{list(ours.shape)}, and not {theirs.dtype}{list(theirs.shape)}"
    if ours.dtype.kind not in "fc":
        return "" if np.array_equal(ours, theirs) else "other numbers"
    with np.errstate(all="ignore"):
        if np.allclose(ours, theirs, relative, absolute, equal_nan=True):
            return ""
        return f"off by up to {np.nanmax(np.abs(ours.astype(complex) - theirs)):.3g}"


# -- the recorded ones -----------------------------------------------------------------------------


@cache
def recorded() -> Mapping[str, bytes]:
    """Name -> the bytes of a case's .npz."""
    if not ARCHIVE.is_file():
        return {}
    with tarfile.open(ARCHIVE) as archive:
        members = [(one.name, archive.extractfile(one)) for one in archive]
        return {name.removesuffix(".npz"): file.read() for name, file in members if file}


def pack(cases: Mapping[str, bytes]) -> None:
    """Make the archive of these: equal ones give equal bytes."""
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for name, data in sorted(cases.items()):
            info = tarfile.TarInfo(f"{name}.npz")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
