"""Names of ONNX's as names of ours: letters, digits, `_ . - /`, each once in a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_UNFIT = re.compile(r"[^A-Za-z0-9_.\-]+")
_LONGEST = 200
_SCOPES = "pkg.torch.onnx.name_scopes"  # what PyTorch's exporter notes at a node: where it is from
_TEXT = re.compile(r"'([^']*)'")


class Names:
    """Those that are taken, small and capital letters alike."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def unique(self, name: str, otherwise: str) -> str:
        """A name as like `name` as may be, or as `otherwise` where that is empty."""
        base = fit(name) or fit(otherwise) or "op"
        own, count = base, self._counts.get(base.lower(), 0)
        while own.lower() in self._taken:
            count += 1
            own = f"{base}_{count}"
        self._counts[base.lower()] = count
        self._taken.add(own.lower())
        return own


def fit(name: str) -> str:
    """A name of the letters that ours may have; "" where nothing is left of it."""
    parts = (_UNFIT.sub("_", part) for part in name.strip("/")[:_LONGEST].split("/"))
    return "/".join(part for part in parts if part.strip("_")).lstrip("_-")


def module_path(told: Mapping[str, str]) -> str:
    """The way to the module that a node was exported from ("layer1/0/conv1"), where that is noted;
    else ""."""
    *modules, _ = _TEXT.findall(told.get(_SCOPES, "")) or [""]
    return (modules[-1] if modules else "").replace(".", "/")


def joined(parts: Iterable[str]) -> str:
    """A name in scopes."""
    return "/".join(part for part in parts if part)


def other_than(own: str, name: str) -> str:
    """A name in the file, where `own` does not tell it; else ""."""
    return "" if own.endswith(name.removeprefix("node_").strip("/")) else name[:_LONGEST]
