"""Which tests a change asks for: those that mirror what changed or what imports it, and use it;
for a module that its package finds by looking through its folder, those of the package.

A test that reaches what changed over more than one module between is not among them: nearly every
test would be. `./dev test` runs them all.
"""

from __future__ import annotations

import ast
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
_OURS = ("core", "gui", "gpu", "tests")


def changed_files(since: str = "HEAD", root: Path = ROOT) -> set[str]:
    """Paths of files that are not as in a revision, those included that git does not know yet.
    Raises LookupError for a revision that it does not know."""
    differing = ("diff", "--name-only", "--no-renames", since)
    new = ("ls-files", "--others", "--exclude-standard")
    return {name for words in (differing, new) for name in _git(root, *words) if name}


def affected_by(changed: Iterable[str], root: Path = ROOT) -> set[str]:
    """Paths of test files, in which there may be nothing to run where there is no such test."""
    sources = {path: (root / path).read_text(encoding="utf-8") for path in _python(root)}
    users = _users(sources)
    searched = _searched(sources, users)
    tests = {path for path in sources if PurePosixPath(path).name.startswith("test_")}
    changed = set(changed)
    near = changed.union(*(users[path] for path in changed))
    found = {path for path in near if path in tests}
    found |= {mirror for path in near if (mirror := _mirror(path)) in tests}
    for path in changed & sources.keys():
        if str(PurePosixPath(path).parent) in searched:
            found |= _nearest(path, tests)
    for path in changed:
        if path.startswith("tests/"):
            found |= _behind(path, users) & tests
        if not path.endswith(".py"):
            name = PurePosixPath(path).name
            found |= {test for test in tests if name in sources[test]}
        if path.endswith("conftest.py"):
            folder = path.removesuffix("conftest.py")
            found |= {test for test in tests if test.startswith(folder)}
    return found


def _python(root: Path) -> Iterator[str]:
    for top in _OURS:
        for path in (root / top).rglob("*.py"):
            yield path.relative_to(root).as_posix()


def _mirror(path: str) -> str:
    """Where the tests of a module are: core/a/b.py → tests/core/a/test_b.py."""
    where = PurePosixPath(path)
    return str(PurePosixPath("tests", where.parent, f"test_{where.name}"))


def _nearest(path: str, tests: Set[str]) -> set[str]:
    """The test files in the folder that mirrors a module's own, or the first above it that has
    any."""
    for folder in PurePosixPath("tests", path).parents:
        if found := {test for test in tests if PurePosixPath(test).parent == folder}:
            return found
    return set()


def _searched(sources: Mapping[str, str], users: Mapping[str, set[str]]) -> set[str]:
    """Folders with modules that nobody imports by name: somebody looks through them."""
    unnamed = (path for path in sources if path not in users and not path.startswith("tests/"))
    return {str(PurePosixPath(path).parent) for path in unnamed if not path.endswith("__init__.py")}


def _behind(path: str, users: Mapping[str, set[str]]) -> set[str]:
    """All that uses a file of the tests, over however many others."""
    found, last = {path}, {path}
    while last:
        last = set().union(*(users.get(each, ()) for each in last)) - found
        found |= last
    return found


def _users(sources: Mapping[str, str]) -> Mapping[str, set[str]]:
    """File → those that import it."""
    found: dict[str, set[str]] = defaultdict(set)
    for path, text in sources.items():
        for module in _imported(text):
            for used in (f"{module}.py", f"{module}/__init__.py"):
                if used in sources:
                    found[used].add(path)
    return found


def _imported(text: str) -> Iterator[str]:
    """Paths of modules, without their endings, that may be meant."""
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.removeprefix("gradstep.").replace(".", "/") for name in names)


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LookupError(done.stderr.strip())
    return done.stdout.splitlines()
