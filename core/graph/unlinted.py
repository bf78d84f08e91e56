"""Operations at which somebody has said that a lint is wrong: an attribute, kept with the graph."""

from __future__ import annotations

from gradstep.core.graph.model import Operation

# The codes of the lints that say nothing there, separated by spaces. TensorFlow passes over
# attributes that begin so.
UNLINTED = "_gradstep_unlinted"


def exempt_codes(op: Operation | None) -> tuple[str, ...]:
    said = None if op is None else op.attrs.get(UNLINTED)
    return tuple(said.split()) if isinstance(said, str) else ()


def is_exempt(op: Operation | None, code: str) -> bool:
    return code in exempt_codes(op)


def with_exempt(op: Operation, code: str) -> str:
    """The attribute's value once `code` is among them."""
    return " ".join(dict.fromkeys((*exempt_codes(op), code)))
