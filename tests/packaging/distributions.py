"""The wheel and the source distribution: built from a copy of the tree, and held to it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from tests.packaging.findings import CheckFailedError, expect

ROOT = Path(__file__).resolve().parents[2]
_PACKED = ("core", "gpu", "gui", "assets")  # whole
_LICENCES = ("LICENSE", "assets/fonts/OFL.txt", "assets/data/ATTRIBUTION.md")
_COMMAND = "gradstep = gradstep.main:run"
# Notices of a build that are none of ours: an installer compiles to bytecode, not a wheel.
_USUAL = re.compile(r"byte-compiling is disabled|^(copying|adding|creating|hard linking|writing) ")
_WARNING = re.compile(r"warning|deprecat", re.IGNORECASE)


def copy_tree(into: Path) -> Path:
    """What git tracks, or would: a build leaves folders where it builds, and finds stale ones."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, into / name
        if source.is_file():  # one that was removed is listed until that is committed
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return into


def build(uv: str, source: Path, out: Path, environment: Mapping[str, str]) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is built from it alone."""
    done = subprocess.run(
        [uv, "build", "--out-dir", out, source],
        cwd=out.parent, env=dict(environment), capture_output=True, text=True, check=False,
    )  # fmt: skip
    expect(done.returncode == 0, f"uv build: {done.stderr.strip()[-600:]}")
    said = warnings_in(done.stdout + done.stderr)
    expect(not said, f"uv build warns: {'; '.join(said[:3])}")
    return next(out.glob("*.tar.gz")), next(out.glob("*.whl"))


def leave_an_older_build(tree: Path) -> None:
    """What `pip install .` of an older version leaves: a module of operations that is gone since,
    which nobody could import."""
    stale = tree / "build" / "lib" / "gradstep" / "core" / "ops" / "catalogue" / "gone.py"
    stale.parent.mkdir(parents=True)
    stale.write_text("raise ImportError('it was packed')\n")


def warnings_in(output: str) -> list[str]:
    lines = (line.strip() for line in output.splitlines())
    return [line for line in lines if _WARNING.search(line) and not _USUAL.search(line)]


def expected(tree: Path) -> set[str]:
    """The files that a wheel of `tree` has, but for its own records."""
    files = [tree / "__init__.py", tree / "main.py", *tree.glob("py.typed")]
    files += [path for top in _PACKED for path in (tree / top).rglob("*") if path.is_file()]
    names = (path.relative_to(tree).as_posix() for path in files)
    return {f"gradstep/{name}" for name in names if not _is_litter(PurePosixPath(name))}


def _is_litter(path: PurePosixPath) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in path.parts)


def check_wheel(wheel: Path, tree: Path) -> str:
    """Raises CheckFailedError for a file that is missing or too many, a licence or the command."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        records = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
        told = {PurePosixPath(name).name: name for name in records}
        commands = archive.read(told["entry_points.txt"]).decode()
    _compare(expected(tree), names - records, "the wheel")
    for licence in _LICENCES:
        expect(any(name.endswith(f"licenses/{licence}") for name in records), f"no {licence}")
    expect(_COMMAND in commands, f"it has no command {_COMMAND}")
    return f"{len(names)} files, {wheel.stat().st_size / 1e6:.1f} MB"


def check_source(archive: Path, tree: Path) -> str:
    """Raises CheckFailedError where the source distribution lacks a file of the package, or has one
    of the tests."""
    with tarfile.open(archive) as opened:
        names = {member.name.partition("/")[2] for member in opened if member.isfile()}
    wanted = {name.removeprefix("gradstep/") for name in expected(tree)}
    read = {name for name in names if "/" not in name or name.startswith(("docs/", "gradstep.egg"))}
    _compare(wanted, names - (read - wanted), "the source distribution")
    return f"{len(names)} files, {archive.stat().st_size / 1e6:.1f} MB"


def _compare(wanted: set[str], there: set[str], where: str) -> None:
    for verb, names in (("lacks", wanted - there), ("should not have", there - wanted)):
        if names:
            raise CheckFailedError(f"{where} {verb} {_some(names)}")


def _some(names: Iterable[str]) -> str:
    first, *others = sorted(names)
    return f"{first} and {len(others)} more" if others else first


def version_of(source: Path) -> str:
    found = re.search(r'^version = "(.+)"', (source / "pyproject.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]
