"""One frame of a GraphDef taken apart, and checked to be a loop as TensorFlow makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.io.tensorflow.graphdef_frames import (
    ENTERS,
    EXITS,
    NEXTS,
    SWITCHES,
    Frames,
    Path,
    goes_round,
    malformed_loop,
    takes,
)
from gradstep.core.ops.declare.attribute_kinds import attribute


@dataclass(frozen=True)
class FramePart:
    """path:      the frame.
    variables: the Merges of the loop variables.
    starts:    the Enter of each.
    results:   the NextIteration of each.
    captures:  the Enters of what stays the same.
    cond:      the LoopCond.
    switches:  the loop's own Switches -> number of the variable.
    leaving:   what is there in the last iteration only: Exits, and what TensorFlow has put between
               them and the Switches.
    parallel:  how many iterations TensorFlow may run at once.
    """

    path: Path
    variables: tuple[Operation, ...]
    starts: tuple[TensorRef, ...]
    results: tuple[TensorRef, ...]
    captures: tuple[Operation, ...]
    cond: Operation
    switches: Mapping[str, int]
    leaving: Mapping[str, Operation]
    parallel: int


def part_of(frames: Frames, path: Path) -> FramePart:
    """What a frame consists of. Raises GradstepError, at an operation, for one that is no loop."""
    inside, entering = frames.inside[path], frames.entering[path]
    variables = tuple(op for op in inside if goes_round(op, frames.graph))
    cond = _cond(inside, entering, path)
    if not variables:
        raise malformed_loop(cond, f"loop '{'/'.join(path)}' has no loop variable")
    numbers = {op.name: number for number, op in enumerate(variables)}
    pairs = [_ends(op, frames) for op in variables]
    _check_taken(inside, {op.name for op in entering if not is_constant(op)}, numbers)
    switches = _switches(inside, cond, numbers)
    return FramePart(
        path=path,
        variables=variables,
        starts=tuple(start for start, _ in pairs),
        results=tuple(result for _, result in pairs),
        captures=tuple(op for op in entering if is_constant(op)),
        cond=cond,
        switches=switches,
        leaving=_leaving(inside, switches),
        parallel=parallel_iterations(frames.graph[pairs[0][0].op]),
    )


def is_constant(enter: Operation) -> bool:
    """Whether what enters there is the same in every iteration."""
    return bool(enter.attrs.get("is_constant", False))


def parallel_iterations(enter: Operation) -> int:
    """How many iterations an Enter lets TensorFlow run at once."""
    return attribute(enter, "parallel_iterations", int, 10)


def _cond(inside: Iterable[Operation], entering: Iterable[Operation], path: Path) -> Operation:
    found = [op for op in inside if op.type == "LoopCond"]
    if len(found) == 1:
        return found[0]
    at = next(iter((*found[1:], *entering)))
    raise malformed_loop(at, f"loop '{'/'.join(path)}' has {len(found)} LoopConds, not one")


def _ends(merge: Operation, frames: Frames) -> tuple[TensorRef, TensorRef]:
    """Where a loop variable comes from, at first and later."""
    graph = frames.graph
    if merge.type == "Merge" and len(merge.inputs) == 2 and not merge.control_inputs:
        start, result = takes(merge, 0), takes(merge, 1)
        if graph[start.op].type in ENTERS and graph[result.op].type in NEXTS:
            return start, result
    raise malformed_loop(
        merge, f"{merge.type} '{merge.name}' of a loop does not take an Enter, then a NextIteration"
    )


def _check_taken(inside: Iterable[Operation], once: set[str], variables: Mapping[str, int]) -> None:
    """What enters once may only begin a loop variable; nobody may ask which way that came."""
    for op in inside:
        for index, ref in enumerate(op.inputs):
            if ref is None:
                continue
            if ref.op in once and not (op.name in variables and index == 0):
                raise malformed_loop(
                    op,
                    f"'{op.name}' takes '{ref.op}', which enters the first iteration only",
                    "set is_constant on that Enter, or make it a loop variable",
                )
            if ref.op in variables and ref.index:
                raise malformed_loop(
                    op, f"'{op.name}' asks whether loop variable '{ref.op}' is new"
                )


def _switches(
    inside: Iterable[Operation], cond: Operation, variables: Mapping[str, int]
) -> dict[str, int]:
    found: dict[str, int] = {}
    for op in inside:
        if op.type in SWITCHES and takes(op, 1).op == cond.name:
            number = variables.get(takes(op, 0).op)
            if number is None:
                raise malformed_loop(op, f"Switch '{op.name}' on a LoopCond has no loop variable")
            found[op.name] = number
    return found


def _leaving(inside: list[Operation], switches: Mapping[str, int]) -> dict[str, Operation]:
    found: dict[str, Operation] = {}

    def is_last(ref: TensorRef | None) -> bool:
        """Whether that tensor is there in the last iteration only."""
        return ref is not None and (ref.op in found or (ref.op in switches and ref.index == 0))

    count = -1
    while count < len(found):
        count = len(found)
        found |= {op.name: op for op in inside if any(map(is_last, op.inputs))}
    for op in inside:
        _check_leaving(op, op.type in EXITS or op.name in found, all(map(is_last, op.inputs)))
        if op.name not in found and not found.keys().isdisjoint(op.control_inputs):
            raise malformed_loop(op, f"'{op.name}' in a loop waits for what leaves it")
    return found


def _check_leaving(op: Operation, leaves: bool, last: bool) -> None:
    if leaves and (not last or op.type in ENTERS):
        raise malformed_loop(
            op, f"'{op.name}' takes out of a loop what is not the last value of a loop variable"
        )
