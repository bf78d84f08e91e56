"""The seed of a run: of all that is random in it, as `tf.set_random_seed` has it."""

from __future__ import annotations

import ast
from dataclasses import replace

from gradstep.core.data.generator_calls import generator_name
from gradstep.core.data.generators import GENERATORS
from gradstep.core.data.literal_values import parse_expression
from gradstep.core.document.document import Document
from gradstep.core.graph.edits import set_attrs
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.random_ops import is_random
from gradstep.core.ops.numerics.philox import seeds_of
from gradstep.core.sweep.setting_syntax import Setting

_SIGNED = 1 << 63


def is_seeded(document: Document, settings: tuple[Setting, ...]) -> bool:
    """Whether another seed makes a difference to the document, or to what is set."""
    texts = [value for setting in settings for value in setting.values]
    if document.data is not None and document.data.shuffle is not None:
        return True
    return any(map(is_random, document.graph.by_type)) or any(seeded_text(t, 1) != t for t in texts)


def with_seed(document: Document, seed: int) -> Document:
    """The document with that seed for each random operation; what an operation was given itself
    stays beside it, so that two of them draw different numbers. It is added to that of the order
    of the document's rows."""
    graph, data = document.graph, document.data
    if data is not None and data.shuffle is not None:
        document = document.with_(data=replace(data, shuffle=data.shuffle + seed))
    for op in [op for op in graph if is_random(op.type)]:
        graph = set_attrs(graph, op.name, {**op.attrs, "seed": seed, "seed2": _own(op)})
    return document.with_(graph=graph)


def seeded_text(text: str, seed: int | None) -> str:
    """`normal(0, 1)` as `normal(0, 1, seed=3)`; any other text, and what has a seed, as it is."""
    call = _call(text)
    if seed is None or call is None:
        return text
    parameters = [*GENERATORS[generator_name(call)].parameters]
    if "seed" not in parameters or _has_seed(call, parameters.index("seed")):
        return text
    named = [*call.keywords, ast.keyword("seed", ast.Constant(seed))]
    return ast.unparse(ast.Call(call.func, call.args, named))


def _call(text: str) -> ast.Call | None:
    try:
        node = parse_expression(text.strip())
    except ValueError:
        return None
    if isinstance(node, ast.Name) and node.id in GENERATORS:
        node = ast.Call(node, [], [])
    return node if isinstance(node, ast.Call) and generator_name(node) in GENERATORS else None


def _has_seed(call: ast.Call, place: int) -> bool:
    shape = bool(call.args) and isinstance(call.args[0], ast.List)
    return len(call.args) - shape > place or any(k.arg == "seed" for k in call.keywords)


def _own(op: Operation) -> int:
    given = int(op.attrs.get("seed2", 0))
    return given or seeds_of(0, 0, op.name)[1] % _SIGNED
