"""What the window asks first of a document that was read, found out beside the main thread.

The window would be deaf meanwhile. It is kept with the graph until it is asked for, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.document.required_python import missing_code
from gradstep.core.errors import GradstepError
from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.stacked_blocks import each_by_itself, stack_blocks
from gradstep.core.host import engine_document
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.ops.typing.missing_inputs import Waiting, find_waiting

LIGHT = 16 << 20  # bytes of constants
Stacked = tuple[frozenset[str], bool]  # what scopes are closed; whether equal ones are one box
# Of a document, its graph with the loops opened, and how scopes are closed in it (each -> the one
# that its box is called after): finds out how that will be drawn, and keeps it there.
DrawAhead = Callable[[Document, Graph, Inference, Mapping[str, str]], None]
_KEY = "foreseen"  # in the graph that is looked at: it goes when that goes


@dataclass(slots=True)
class _Foreseen:
    kinds: BlockKinds | None
    stacks: tuple[Stacked, Mapping[str, str]]


def foresee(
    document: Document, inference: Inference, stacked: bool, draw: DrawAhead | None = None
) -> None:
    """Find out what will be asked of it. stacked: whether equal blocks are shown as one box. draw:
    of who will draw it."""
    try:
        waiting_of(document)
        missing_code(document)
        shown = flatten_loops(document.graph)
        kinds, closed = BlockKinds(shown), document.view.collapsed
        collapsed = stack_blocks(closed, kinds) if stacked else each_by_itself(closed)
        if draw is not None:
            draw(document, shown, inference, collapsed)
        shown.__dict__[_KEY] = _Foreseen(kinds, ((closed, stacked), collapsed))
        if _weight(document) <= LIGHT:  # of more, the first picture need not wait for it
            engine_document.write_ahead(document)
    except GradstepError:
        return  # it will be said when it is asked for


def _weight(document: Document) -> int:
    """Bytes of the arrays in it."""
    held = (value for op in document.graph for value in op.attrs.values())
    every = chain(held, document.feeds.values(), document.initial.values())
    return sum(value.array.nbytes for value in every if isinstance(value, Constant))


def waiting_of(document: Document) -> Mapping[str, Waiting]:
    """Operation -> what it waits for, of what is not drawn to its end yet."""
    try:
        fed = {TensorRef.parse(name) for name in (*document.feeds, *document.columns)}
        return find_waiting(with_placeholders(document).graph, fed)
    except GradstepError:  # a cycle, or a feed of nothing, which is said
        return {}


def foreseen_kinds(shown: Graph) -> BlockKinds | None:
    """Of a graph with its loops opened."""
    found = _of(shown)
    if found is None:
        return None
    kinds, found.kinds = found.kinds, None
    return kinds


def foreseen_stacks(shown: Graph, stacked: Stacked) -> Mapping[str, str] | None:
    """Each closed scope -> the one that its box is called after; None where something else was
    foreseen, or nothing."""
    found = _of(shown)
    return None if found is None or found.stacks[0] != stacked else found.stacks[1]


def _of(shown: Graph) -> _Foreseen | None:
    found: _Foreseen | None = shown.__dict__.get(_KEY)
    return found
