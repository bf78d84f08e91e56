"""A document's own Python in scripts of NumPy and PyTorch: functions that are given arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gradstep.core.autodiff.reverse.gradient_request import gradient_name
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.document.function_lookup import identifier, meant
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import PYTHON_OPS, Operation
from gradstep.core.io.script.script_functions import tree_of

PULLED = '''
def pulled(rule, inputs, outputs, grads):
    """What a gradient function gives for each input; None counts as 0."""
    op = types.SimpleNamespace(inputs=inputs, outputs=outputs)
    found = rule(op, *grads)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    return [x * 0 if g is None else g for g, x in zip(found, inputs)]
'''
PULLED_ARRAYS = '''
def pulled_arrays(rule, inputs, outputs, grads):
    """The same of a gradient function that is given arrays."""
    found = rule(*grads, *inputs)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    return [x * 0 if g is None else g for g, x in zip(found, inputs)]
'''
NAMES = ("pulled", "pulled_arrays")
GRADIENTS = (CodeKind.GRADIENT, CodeKind.NUMPY_GRADIENT)
# Identity's gradient in the place of another.
STRAIGHT = CodeItem(
    "straight_through", CodeKind.GRADIENT, "def straight(op, grad):\n    return grad"
)


def overriding(document: Document, op: Operation) -> CodeItem | None:
    """The document's gradient function that is in force at an operation; None for an op type's."""
    item = document.code.get(gradient_name(op, document.request.overrides))
    return item if item is not None and item.kind in GRADIENTS else None


def function_of(document: Document, op: Operation) -> CodeItem:
    """What an operation of Python calls. Raises GradstepError where the document has none."""
    item = document.code.get(str(op.attrs.get("token", "")))
    if item is None or item.kind is not CodeKind.PYFUNC:
        raise GradstepError(
            f"'{op.name}' calls a Python function that the document does not have",
            kind="ValueError",
            node=op.name,
            hint="write the function first (Edit Python…, or --code FILE.py)",
        )
    return item


def sources(
    document: Document,
    operations: Iterable[Operation],
    gradients: Iterable[CodeItem | None],
    what: str,
) -> Iterator[str]:
    """Each source that operations call, or that is a gradient of them, once. Raises GradstepError
    for one that calls TensorFlow."""
    items = [item for item in gradients if item is not None]
    tokens = [op.attrs.get("token") for op in operations if op.type in PYTHON_OPS]
    items += [document.code[str(token)] for token in tokens if str(token) in document.code]
    by_source: dict[str, dict[str, CodeItem]] = {}
    for item in items:
        _require_arrays(item, what)
        by_source.setdefault(item.source, {})[item.name] = item
    for source, served in by_source.items():
        yield f"\n{source.rstrip()}\n"
        yield from map(_renamed, served.values())


def taken(document: Document) -> Iterator[str]:
    """Names that the document's functions, and what stands beside them, have in a script."""
    for item in document.code.values():
        yield called(item)
        for node in tree_of(item.source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name
                continue
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id
                elif isinstance(part, ast.alias):
                    yield part.asname or part.name.partition(".")[0]


def called(item: CodeItem) -> str:
    """What the script calls it."""
    return f"{identifier(item.name)}_"


def helpers(items: Iterable[CodeItem | None]) -> Iterator[str]:
    """What calls them."""
    kinds = {item.kind for item in items if item is not None}
    if CodeKind.GRADIENT in kinds:
        yield PULLED
    if CodeKind.NUMPY_GRADIENT in kinds:
        yield PULLED_ARRAYS


def pull_call(item: CodeItem, inputs: str, outputs: str, grads: str) -> str:
    """What the function gives, as a list for the inputs."""
    name = "pulled_arrays" if item.kind is CodeKind.NUMPY_GRADIENT else "pulled"
    return f"{name}({called(item)}, {inputs}, {outputs}, {grads})"


def _renamed(item: CodeItem) -> str:
    """By a name of its own: the next piece may define a function of the same name."""
    return f"{called(item)} = {meant(tree_of(item.source), item.name)}"


def _require_arrays(item: CodeItem, what: str) -> None:
    tree = tree_of(item.source)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if meant(tree, item.name) is None:
        raise GradstepError(f"there is no function in '{item.name}'", kind="ValueError")
    if "tf" in names:
        raise GradstepError(
            f"the function '{item.name}' calls TensorFlow, so it cannot be in {what}",
            kind="ValueError",
            hint="write a script for TensorFlow (.py)",
        )
