"""Edits on branches as people write them: `stop a<1`, `native a`, `set r.alpha = 0.1`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gradstep.core.autodiff.reverse.gradient_request import OverrideKind
from gradstep.core.debug.history.frozen_program import NamedEdit
from gradstep.core.document.document import Document
from gradstep.core.document.optimizer_labels import ONLY, TEXTS, find_optimizer, optimizer_labels
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.scopes import is_inside
from gradstep.core.train.optimizers import OPTIMIZERS

EXAMPLES = (
    "stop a, stop a<1, unstop a<1, override a Identity, native a, set a.alpha = 0.1, "
    "set learning_rate = 0.01"
)
_SET = re.compile(r"([^\s=]+)\s*=(.+)", re.DOTALL)


def read_edit(document: Document, text: str) -> NamedEdit | None:
    """The named edit of the document that is meant; None for what cannot be read. Raises
    GradstepError for a setting that several optimizers have."""
    word, _, about = text.strip().partition(" ")
    reader = _READERS.get(word)
    return None if reader is None else reader(document, about.strip())


def settings_named(document: Document, key: str) -> list[str]:
    """The optimizers that have a setting of that name."""
    pairs = zip(optimizer_labels(document), document.optimizers, strict=True)
    return [label for label, one in pairs if key in (*OPTIMIZERS.get(one.type, ()), *TEXTS)]


def _stop(document: Document, about: str) -> NamedEdit | None:
    return ("stop", (about,)) if about and " " not in about else None


def _unstop(document: Document, about: str) -> NamedEdit | None:
    at = about if "<" in about or not about else str(TensorRef.parse(about))
    return ("unstop", (at,)) if about and " " not in about else None


def _override(document: Document, about: str) -> NamedEdit | None:
    words = about.split()
    if len(words) != 2:
        return None
    target, gradient = words
    graph = document.graph
    scope = any(is_inside(name, target.rstrip("/")) for name in graph.operations)
    known = OverrideKind.OP if target in graph else None
    kind = known or (OverrideKind.SCOPE if scope else OverrideKind.TYPE)
    return "override", (gradient, target, kind.value)


def _native(document: Document, about: str) -> NamedEdit | None:
    return ("native", (about,)) if about and " " not in about else None


def _set(document: Document, about: str) -> NamedEdit | None:
    """An attribute of a node, or a setting of an optimizer."""
    found = _SET.fullmatch(about)
    if found is None:
        return None
    name, text = found[1], found[2].strip()
    of, dot, key = name.rpartition(".")
    if dot and (of in document.graph or of not in (*optimizer_labels(document), ONLY)):
        return "set", (of, key, text)
    return "hyper", (_optimizer(document, of, key), key, text)


def _optimizer(document: Document, label: str, key: str) -> str:
    """Whose setting is meant. Raises GradstepError where that is not clear, or nobody's."""
    with_it, labels = settings_named(document, key), optimizer_labels(document)
    if label:
        label = labels[find_optimizer(document, label)]
        with_it = [each for each in with_it if each == label]
    if len(with_it) == 1:
        return with_it[0]
    if with_it:
        ways = " or ".join(f"set {each}.{key} = …" for each in with_it)
        raise GradstepError(
            f"{len(with_it)} optimizers have a {key}", kind="ValueError", hint=f"write {ways}"
        )
    known = sorted({k for one in document.optimizers for k in OPTIMIZERS.get(one.type, ())})
    raise GradstepError(
        f"no optimizer has a setting '{key}'",
        kind="KeyError",
        hint=f"they have {', '.join((*known, *TEXTS))}"
        if known
        else "the document has no optimizer; an attribute of a node is set by: set a.alpha = 0.1",
    )


_READERS: Mapping[str, Callable[[Document, str], NamedEdit | None]] = {
    "stop": _stop,
    "unstop": _unstop,
    "override": _override,
    "native": _native,
    "set": _set,
}
