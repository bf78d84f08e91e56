"""No module imports itself by way of others, neither at its top nor inside a function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import networkx as nx
import pytest

from tests.support.code_facts import facts_of

ROOT = Path(__file__).resolve().parent.parent


def sources() -> dict[str, str]:
    """The code of every module, by its name."""
    files = [ROOT / "main.py", ROOT / "__init__.py"]
    files += (path for room in ("core", "gpu", "gui") for path in (ROOT / room).rglob("*.py"))
    return {_name(path): path.read_text(encoding="utf-8") for path in files}


def _name(path: Path) -> str:
    parts = ("gradstep", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(code: Mapping[str, str]) -> nx.DiGraph:
    """Which module imports which, or has its name in a table of what to import."""
    graph = nx.DiGraph()
    for module, text in code.items():
        for line, *names in facts_of(text).named:
            found = next((name for name in names if name in code), module)
            if found != module:
                graph.add_edge(module, found, line=line)
    return graph


def circles(graph: nx.DiGraph) -> list[str]:
    """A line for each import between modules that import each other, by way of others perhaps."""
    tied = [graph.subgraph(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    return sorted(f"{a}:{line} -> {b}" for part in tied for a, b, line in part.edges(data="line"))


@pytest.mark.slow
def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = imports(sources())
    assert graph.number_of_edges() > 4000
    assert circles(graph) == []


LATE = "def f():\n    from gradstep.a import x\n"


@pytest.mark.parametrize(
    ("text", "is_seen"),
    [
        ("import gradstep.a", True),
        ("from gradstep import a", True),
        ("from gradstep.a import x", True),
        (LATE, True),
        (f"class C:\n    {LATE.replace('    ', '        ')}", True),
        ('PANELS = {"a": "gradstep.a"}', True),
        (f"if TYPE_CHECKING:\n    import os\nelse:\n    {LATE.splitlines()[1]}", True),
        ("if TYPE_CHECKING:\n    from gradstep.a import x", False),
        ("from gradstep.c import x", False),
        ('"""As gradstep.a says."""', False),
        ('FILE = "gradstep.a.exe"', False),
    ],
)
def test_a_planted_circle_is_seen(text: str, is_seen: bool) -> None:
    code = {
        "gradstep": "",
        "gradstep.a": "from gradstep.b import f",
        "gradstep.b": text,
        "gradstep.c": "",
    }
    assert bool(circles(imports(code))) is is_seen
