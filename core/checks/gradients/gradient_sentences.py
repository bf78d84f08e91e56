"""What a check of gradients found, in sentences that follow from its rows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.name_list import name_list
from gradstep.core.protocol.messages import (
    CheckedTensor,
    GradientRow,
    LostLoss,
    NodeCheck,
    UncheckedNode,
)
from gradstep.core.protocol.vocabulary import Supported

EXPECTED = ", as the document expects"
_REMARKS = (Verdict.KINK, Verdict.FLOAT32)
_SUPPORTED = {
    "native": "The numbers support the native gradient; the override gives another one.",
    "override": "The numbers support the override.",
    "both": "The override gives the native gradient, and the numbers support it.",
    "neither": "The numbers support neither gradient.",
}


def said(
    rows: Sequence[GradientRow],
    nodes: Sequence[NodeCheck],
    second: Sequence[CheckedTensor],
    unchecked: Sequence[UncheckedNode],
    supports: Supported,
    native_error: str = "",
    expected: Container[str] = (),
) -> str:
    """The fields of a GradientTable. native_error: why there is no native gradient; expected: see
    `clauses`."""
    overridden = any(row.override is not None for row in rows)
    told = overridden and not any(node.unseen for node in nodes)
    differences = map(sentence, clauses(rows, nodes, second, expected))
    sentences = [
        *([_SUPPORTED[supports]] if told else differences),
        f"There is no native gradient: {native_error}." if native_error else "",
        *_remarks(rows),
        *_twice(second),
        *_by_themselves(rows, nodes),
        *_defects(nodes),
        *_left_out(unchecked),
    ]
    return " ".join(filter(None, sentences))


def told(lost: LostLoss) -> str:
    """That there is nothing to check, and where to look."""
    return f"{sentence(lost_clause(lost))} Differences of it say nothing: ask why it is."


def lost_clause(lost: LostLoss) -> str:
    first = "" if lost.node == lost.name else f", first at {lost.node} ({lost.type})"
    return f"the loss {lost.name} is {lost.kind}{first}"


def clauses(
    rows: Sequence[GradientRow],
    nodes: Sequence[NodeCheck],
    second: Sequence[CheckedTensor],
    expected: Container[str] = (),
) -> Iterator[str]:
    """Which gradients are what finite differences give, and which are not. expected: tensors whose
    gradient is said by the document to be as it is."""
    wrong = _names(rows, Verdict.WRONG)
    for names, how in (
        ([name for name in wrong if name not in expected], ""),
        ([name for name in wrong if name in expected], EXPECTED),
        (_names(rows, Verdict.DEFECT), ", as in TensorFlow"),
    ):
        if names:
            one = len(names) == 1
            yield (
                f"the gradient{'' if one else 's'} of {', '.join(names)} "
                f"differ{'s' if one else ''} from finite differences{how}"
            )
    found = _verdicts(rows, nodes, second)
    if not found or _names(rows, Verdict.WRONG, Verdict.DEFECT):
        return
    if Verdict.WRONG in found:
        yield f"{_asked(rows, nodes)}gradients differ from finite differences"
    else:
        but = ", but for a defect of TensorFlow's own" if Verdict.DEFECT in found else ""
        kinks = ", but at kinks" if Verdict.KINK in found else ""
        yield f"the gradients agree with finite differences{kinks}{but}"


def _asked(rows: Sequence[GradientRow], nodes: Iterable[NodeCheck]) -> str:
    """What is said of those that were asked for, where none of them is wrong."""
    if not rows:
        return ""
    told = "too small to tell" if any(node.unseen for node in nodes) else "right"
    return f"those that were asked for are {told}, but other "


def _names(rows: Iterable[GradientRow], *verdicts: Verdict) -> list[str]:
    """The tensors with such an element, each once."""
    return [*dict.fromkeys(row.name for row in rows if row.verdict in verdicts)]


def _verdicts(
    rows: Sequence[GradientRow], nodes: Sequence[NodeCheck], second: Sequence[CheckedTensor]
) -> set[str]:
    verdicts = {row.verdict for row in rows} | {tensor.verdict for tensor in second}
    return verdicts | {tensor.verdict for node in nodes for tensor in node.tensors}


def _remarks(rows: Iterable[GradientRow]) -> Iterator[str]:
    """What is neither right nor wrong; of several tensors with one reason, once."""
    alike: dict[tuple[str, str], dict[str, str]] = {}  # what and why -> name -> all of it
    for row in rows:
        if row.text and row.verdict in _REMARKS:
            what, _, where = row.text.partition(" at index ")
            why = where.partition(": ")[2]
            alike.setdefault((what, why), {}).setdefault(row.name, row.text)
    for (what, why), said in alike.items():
        if len(said) == 1:
            yield from (f"The gradient of {name} is at {text}." for name, text in said.items())
        else:
            of = name_list(said, 3)
            yield f"The gradients of {of} are at {what}{f': {why}' if why else ''}."


def _twice(second: Iterable[CheckedTensor]) -> Iterator[str]:
    """What is to be said of the gradients of gradients."""
    for tensor in second:
        if tensor.verdict != Verdict.OK.value:
            yield f"The second derivative by {tensor.name}: {tensor.text}."


def _by_themselves(rows: Iterable[GradientRow], nodes: Iterable[NodeCheck]) -> Iterator[str]:
    """Nodes that are wrong, though what was asked for is right."""
    if any(row.verdict == Verdict.WRONG.value for row in rows):
        return
    wrong = [f"{n.node} ({n.gradient})" for n in nodes if n.verdict == Verdict.WRONG.value]
    if wrong:
        yield f"Wrong by itself: {', '.join(wrong)}."


def _defects(nodes: Iterable[NodeCheck]) -> Iterator[str]:
    """Each once for all nodes of one type."""
    found: dict[tuple[str, int, str], list[CheckedTensor]] = {}
    for tensor in (t for node in nodes for t in node.tensors):
        if tensor.why:
            found.setdefault((tensor.type, tensor.order, tensor.why), []).append(tensor)
    for (type_, order, why), tensors in found.items():
        again = ", differentiated again," if order == 2 else ""
        one, names = tensors[0], ", ".join(dict.fromkeys(t.node for t in tensors))
        given = "None" if one.analytic is None else f"{one.analytic:.6g}"
        yield (
            f"At {names} the gradient of {type_}{again} gives {given} by {one.name}, where "
            f"{one.numeric:.6g} is right. That is a defect of TensorFlow's own, and the same here: "
            f"{why}."
        )


def sentence(clause: str) -> str:
    """With a capital, and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}."


def _left_out(unchecked: Sequence[UncheckedNode]) -> Iterator[str]:
    """Which operations are only checked as parts of the whole, for each reason."""
    for why in dict.fromkeys(one.why for one in unchecked):
        names = [f"{one.node} ({one.type})" for one in unchecked if one.why == why]
        each = "each " if len(names) > 1 else ""
        yield f"Not checked alone, but in the whole: {', '.join(names)}, which {each}{why}."
