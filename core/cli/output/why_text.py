"""What `gradstep why` prints of many gradients: each cause once, and all that it is one of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gradstep.core.protocol.messages import Explanation

_FEW = 4  # gradients that are each told in full


def gradient_texts(
    found: Mapping[str, Explanation], told: Callable[[str, Explanation], str]
) -> Iterator[str]:
    """An entry for each of a few gradients; of more one for each cause, and a line for each that is
    as it should be. told: all that is said of one, by what it is with respect to."""
    if len(found) <= _FEW:
        yield from (told(name, one) for name, one in found.items())
        return
    alike: dict[object, list[str]] = {}
    for name, one in found.items():
        alike.setdefault(name if one.state == "ok" else _cause(one), []).append(name)
    for first, *others in alike.values():
        one = found[first]
        text = one.text if one.state == "ok" else told(first, one)
        yield text + (f"\n  so is, by the same cause: {', '.join(others)}" if others else "")


def _cause(one: Explanation) -> object:
    """What two have in common that are so for one reason."""
    index = None if one.index is None else (*one.index,)
    return one.state, one.cause, one.node, index, one.text.partition(": ")[2]
