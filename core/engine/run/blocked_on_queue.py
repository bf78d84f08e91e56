"""A blocked run: an operation that waits for a queue, with nobody there to end that."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step, storage_name
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.state.queue import WouldBlockError

_SHOWN = 3


def queue_of(graph: Graph, op: Operation) -> str:
    """The storage of the queue that `op` works on; "" if that is not to be seen."""
    while op.inputs and op.inputs[0] is not None and op.inputs[0].op in graph:
        op = graph[op.inputs[0].op]
    return storage_name(op)


def who_helps(graph: Graph, queue: str, waits_for: str) -> Iterator[str]:
    """The operations that put something into the queue kept as `queue`, or take it out."""
    start = "QueueEnqueue" if waits_for == "put" else "QueueDequeue"
    for op in graph.operations.values():
        if op.type.startswith(start) and queue_of(graph, op) == queue:
            yield op.name


def stuck(plan: Plan, done: int, error: WouldBlockError, store: VariableStore) -> GradstepError:
    """What a run says that blocks at step `done` for ever. The queue is left as TensorFlow leaves
    it when it gives up: without the elements taken, with those put in."""
    step = plan.steps[done]
    queue = error.left.storage
    store.set(queue, error.left)
    lost = len(error.partial.taken)
    taken = f"; {lost} taken already {'is' if lost == 1 else 'are'} lost" if lost else ""
    hint = way_out(plan.graph, queue, error, step)
    return GradstepError(alone(error) + taken, kind=error.kind, node=step.op.name, hint=hint)


def alone(error: WouldBlockError) -> str:
    """That it has to wait, with nobody there to help."""
    act = "enqueue more" if error.waits_for == "put" else "dequeue"
    return f"{error.message} and nothing that is running can {act}"


def way_out(graph: Graph, queue: str, error: WouldBlockError, step: Step) -> str:
    """What the user can do so that `step` need not wait."""
    helpers = [*who_helps(graph, queue, error.waits_for)]
    ways = [f"run {' or '.join(helpers[:_SHOWN])} first"] if helpers else []
    if step.definition is not None and step.definition.outputs:
        ways.append(f"feed {step.op.output()}")
    if error.waits_for == "put":
        ways.append("close the queue, so that this fails with OutOfRangeError")
    return ", or ".join(ways)
