"""What an engine says of the place where it stands, to be compared bit for bit with other times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.host.engine_client import Answer
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer

ALL = 2**40  # elements: all that there are


class Position(NamedTuple):
    """Where a thread stands: inside has iteration and step of each loop, the outermost first."""

    run: int
    step: int
    inside: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, stop: m.Stopped) -> Position:
        return cls(stop.run, stop.step, tuple((p.iteration, p.step) for p in stop.inside))

    def __str__(self) -> str:
        return f"{self.run}:{self.step}" + "".join(f"/{i}:{s}" for i, s in self.inside)


Frame = dict[str, str]  # tensor -> what is known of it, with a digest of all its bits


def names_of(program: m.ProgramInfo, document: Document, inside: bool) -> list[str]:
    """All tensors of a program that may have a value: of loops' bodies only `inside` of one."""
    steps = [*program.steps]
    if inside:
        steps += [step for loop in program.loops for step in loop.steps]
    refs = dict.fromkeys(ref for step in steps for ref in step.outputs)
    graph = document.graph
    refs |= dict.fromkeys(f"{op.name}:0" for op in graph if op.type in VARIABLES)
    refs |= dict.fromkeys(f"{name}:0" for slots in program.slots.values() for name in slots)
    return [*refs]


def reading(program: m.ProgramInfo, document: Document, at: Position | None = None) -> m.Read:
    """The question for a whole frame: where the debugger stands, or `at` another step."""
    refs = names_of(program, document, at is None)
    if at is None:
        return m.Read(refs=refs, limit=ALL)
    return m.Read(refs=refs, limit=ALL, run=at.run, step=at.step)


def wording(program: m.ProgramInfo) -> m.Notate:
    """The question what all steps do, in words."""
    loops = (step for loop in program.loops for step in loop.steps)
    return m.Notate(ops=[step.op for step in (*program.steps, *loops)])


def frame_of(answer: Answer) -> Frame:
    """The frame in a reply to `reading`."""
    values, buffers = answer
    assert isinstance(values, m.Values)
    return {part.ref: _known(part, buffers) for part in values.parts}


def _known(part: m.TensorPart, buffers: tuple[Buffer, ...]) -> str:
    own = [part.buffer, -1 if part.update is None else part.update.before]
    digests = [_digest(buffers[n], part.dtype) for n in own if n >= 0]
    said = {**msgspec.structs.asdict(part), "ref": "", "buffer": 0}
    if part.update is not None:
        said["update"] = (part.update.step, part.update.delta, part.update.changed)
    return " ".join([part.state, part.dtype, str(part.shape), _short(repr(said)), *digests])


def _digest(data: Buffer, dtype: str) -> str:
    """Of an array's bytes. Which of several NaN it is says nothing: see the 31st decision."""
    raw = bytes(data)
    if dtype in ("float32", "float64", "float16"):
        array = np.frombuffer(raw, DType(dtype).numpy).copy()
        array[np.isnan(array)] = np.nan
        raw = array.tobytes()
    return _short(raw)


def _short(data: bytes | str) -> str:
    raw = data.encode() if isinstance(data, str) else data
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def told(stop: m.Stopped) -> str:
    """What a stop says that hangs on the place alone, and not on the way there."""
    return f"{Position.of(stop)} {stop.phase} {stop.node} {stop.op} {stop.text}"


def differences(one: Frame, other: Frame) -> Iterator[str]:
    """Tensors of which two frames say different things."""
    for ref in dict.fromkeys([*one, *other]):
        if one.get(ref) != other.get(ref):
            yield f"{ref}: {one.get(ref, 'absent')} / {other.get(ref, 'absent')}"
