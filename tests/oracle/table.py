"""The table of every recorded entry: checked, or skipped for a reason that it gives."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.table import lookup
from tests.oracle import topics
from tests.oracle.compare import as_array, difference, essential, is_error, is_outcome, is_tensor
from tests.support import oracle
from tests.support.rounding import Rounding

Path = tuple[str | int, ...]

OK, MISMATCH, SKIPPED = "ok", "MISMATCH", "skipped"

HEADER = frozenset({"case", "topic", "tf_version"})
_AT_BUILD = " for '{{node"  # how the message of a shape error ends while the graph is built
DOCUMENTATION = "documentation, not a run"
NO_OP = "needs an op that is not among Gradstep's"
STATISTIC = "a statistic of the recording itself"
# Keys that are words about the recording wherever they stand.
_WORDS = frozenset({"note", "trap", "why", "verdict", "api", "consequence", "contrib"})


@dataclass(frozen=True)
class Row:
    """One line of the table: an entry of a case, and how it came out."""

    case: str
    entry: str
    kind: str  # value, gradient, None, error, graph
    result: str  # OK, MISMATCH or SKIPPED
    detail: str = ""


class Case:
    """One case file while it is checked: what TensorFlow recorded, and a row for each check."""

    def __init__(self, name: str, recorded: dict[str, Any] | None = None) -> None:
        self.name = name
        self.recorded = oracle.case(name) if recorded is None else recorded
        self.rows: list[Row] = []
        self._covered: set[Path] = set()

    # -- reading -----------------------------------------------------------------------------

    def at(self, *path: str | int) -> Any:
        """The recorded entry, as it is; KeyError where there is none."""
        found: Any = self.recorded
        for key in path:
            found = found[key]
        return found

    def given(self, *path: str | int) -> Any:
        """An entry that the check starts from: an input, a tensor as an array."""
        self._covered.add(path)
        found = self.at(*path)
        return as_array(found) if is_tensor(found) else found

    # -- checking ----------------------------------------------------------------------------

    def value(self, ours: Any, *path: str | int, rounding: Rounding | None = None) -> None:
        """Compare what a run gave; `ours` may be a function that gives it."""
        self._compare("value", ours, path, rounding)

    def gradient(
        self,
        ours: Any,
        *path: str | int,
        rounding: Rounding | None = None,
        but: tuple[int, ...] = (),
        why: str = "",
    ) -> None:
        """The same for a gradient. but: elements left out, and the table says why."""
        self._compare("gradient", ours, path, rounding, but, why)

    def graph(self, ours: Any, *path: str | int) -> None:
        """Compare what the graph is: types, names, attributes, shapes."""
        self._compare("graph", ours, path, None)

    def derived(self, ours: Any, theirs: Any, *path: str | int, how: str) -> None:
        """Compare what follows from the graph or from the run with what follows from the entry."""
        text = difference(ours, theirs)
        self._add(path, "graph", not text, text or how)

    def error(
        self,
        run: Callable[[], Any],
        *path: str | int,
        says: str = "",
        kind: str = "",
        why: str = "",
    ) -> None:
        """Compare class and words of what is raised. says, kind: where ours are others on purpose;
        the table shows them, and why."""
        recorded = self.at(*path)
        wanted = kind or recorded.get("raised") or recorded["error"]
        words = says or essential(recorded["message"])
        own = "; ".join(
            text
            for text in (kind and f"as {kind}", says and f"own words: {says}", why and f"({why})")
            if text
        )
        # TensorFlow's Python makes a ValueError of a kernel's InvalidArgumentError while building.
        same = {wanted, "InvalidArgumentError"} if _AT_BUILD in recorded["message"] else {wanted}
        try:
            run()
        except (GradstepError, AttributeError, TypeError, ValueError) as error:
            if (missing := _missing(error)) and wanted != "UnknownOpError":
                self.skip(f"{NO_OP}: {missing}", *path)
                return
            found, text = getattr(error, "kind", type(error).__name__), str(error)
            right = found in same and words in text
            detail = own if right else f"{found}: {text}; wanted {wanted}: {words}"
            self._add(path, "error", right, detail)
        else:
            self._add(path, "error", False, f"nothing was raised; wanted {wanted}: {words}")

    def skip(self, why: str, *path: str | int) -> None:
        """Leave an entry out; its reason stands in the table."""
        self.at(*path)
        self._covered.add(path)
        self.rows.append(Row(self.name, _text(path), "", SKIPPED, why))

    def differs(self, op_type: str, *path: str | int) -> None:
        """Leave an entry out because the op's own record says how it differs from TensorFlow."""
        self.skip(f"differs on purpose: {lookup(op_type).differs}", *path)

    def skip_each(self, why: str, *keys: str) -> None:
        for key in keys:
            self.skip(why, key)

    def _compare(
        self,
        kind: str,
        ours: Any,
        path: Path,
        rounding: Rounding | None,
        but: tuple[int, ...] = (),
        why: str = "",
    ) -> None:
        theirs = self.at(*path)
        none = theirs is None or (is_outcome(theirs) and theirs.get("value", 0) is None)
        none = none or (isinstance(theirs, dict) and theirs.get("result") == "None")
        kind = "None" if kind == "gradient" and none else kind
        if is_error(theirs):
            raise TypeError(f"{_text(path)} is an error: use Case.error")
        try:
            found = ours() if callable(ours) else ours
            if but:
                found = np.array(found)
                found.flat[list(but)] = as_array(theirs).flat[list(but)]
            text = difference(found, self._asked(path), rounding)
        except (GradstepError, AttributeError) as error:
            if missing := _missing(error):
                self.skip(f"{NO_OP}: {missing}", *path)
                return
            text = f"raises {type(error).__name__}: {error}"
        left_out = f"without element {', '.join(map(str, but))}: {why}" if but else ""
        self._add(path, kind, not text, text or left_out)

    def _asked(self, path: Path) -> Any:
        """The entry without those of its members that are skipped or checked by themselves."""
        theirs = self.at(*path)
        own = {p[len(path)] for p in self._covered if len(p) == len(path) + 1 and p[:-1] == path}
        return {k: v for k, v in theirs.items() if k not in own} if own else theirs

    def _add(self, path: Path, kind: str, right: bool, detail: str) -> None:
        self._covered.add(path)
        self.rows.append(Row(self.name, _text(path), kind, OK if right else MISMATCH, detail))

    # -- completeness ------------------------------------------------------------------------

    def close(self) -> None:
        """Rows for what is left: words are skipped as such, anything else is a mismatch."""
        for path in _leaves(self.recorded):
            if path[0] in HEADER or any(path[:n] in self._covered for n in range(1, len(path) + 1)):
                continue
            if any(_is_words(key) for key in path):
                self.skip(DOCUMENTATION, *path)
            else:
                self._add(path, "", False, "neither checked nor skipped for a reason")


def _missing(error: Exception) -> str:
    """The op or the function of `tf` that is not there, where that is the failure."""
    if isinstance(error, GradstepError) and error.kind == "UnknownOpError":
        return error.message.split("'")[1]
    found = re.match(r"(tf\S*) has no '(\w+)'", str(error))
    return f"{found[1]}.{found[2]}" if found and isinstance(error, AttributeError) else ""


def _is_words(key: str | int) -> bool:
    return isinstance(key, str) and (key in _WORDS or key.endswith(("_note", " note")))


def _leaves(recorded: Any, path: Path = ()) -> Iterator[Path]:
    """Paths of what is no container: tensors, outcomes, numbers, texts, and lists of those."""
    atom = is_tensor(recorded) or is_outcome(recorded) or not recorded
    if isinstance(recorded, dict) and not atom:
        for key, value in recorded.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(recorded, list) and any(isinstance(x, dict | list) for x in recorded):
        for index, value in enumerate(recorded):
            yield from _leaves(value, (*path, index))
    else:
        yield path


def _text(path: Path) -> str:
    return " / ".join(str(key) for key in path)


Check = Callable[[Case], None]
_CHECKS: dict[str, list[Check]] = {}


def checks(*names: str) -> Callable[[Check], Check]:
    """Register a function that checks entries of these cases."""

    def register(function: Check) -> Check:
        for name in names:
            _CHECKS.setdefault(name, []).append(function)
        return function

    return register


def names() -> list[str]:
    """Every recorded case."""
    return sorted(path.stem for path in oracle.CASES.glob("[!_]*.json"))


def registered(name: str) -> list[Check]:
    """The functions that check a case."""
    for found in pkgutil.iter_modules(topics.__path__, f"{topics.__name__}."):
        importlib.import_module(found.name)
    return _CHECKS.get(name, [])


def table(name: str, recorded: dict[str, Any] | None = None) -> list[Row]:
    """The rows of one case, each of its entries among them."""
    case = Case(name, recorded)
    for check in registered(name):
        try:
            with np.errstate(all="ignore"), redirect_stderr(StringIO()):  # the op Print writes
                check(case)
        except Exception as error:  # a check that breaks is a mismatch, and hides no other
            text = f"{type(error).__name__}: {error}"
            case.rows.append(Row(name, f"({check.__name__})", "", MISMATCH, text))
    case.close()
    return case.rows
