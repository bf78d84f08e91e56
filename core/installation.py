"""What to type for what the program lacks, by how it was installed.

One thing in a checkout, another after `uv tool install`, another in an environment of the user's.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_CUDA = ("cuda12", "cuda13")  # one or the other; in a checkout, by the driver that is there


def is_checkout() -> bool:
    """Whether ./dev made the environment that runs. An editable installation elsewhere is none:
    what ./dev installs would not reach it."""
    return Path(sys.prefix).resolve() == ROOT / ".venv" and (ROOT / "dev").is_file()


def command_path() -> Path | None:
    """The command `gradstep`: the one that was typed, or else that of the environment that runs.
    Absolute, and not where a link leads: it may lead elsewhere after an update. None for none."""
    scripts = Path(sys.prefix) / ("Scripts" if sys.platform == "win32" else "bin")
    for path in (
        Path(os.path.abspath(sys.argv[0])),
        scripts / "gradstep",
        scripts / "gradstep.exe",
    ):
        if path.stem == "gradstep" and path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def extra_command(extra: str = "") -> str:
    """What to type for one of the extras in pyproject.toml, which keeps those that are there; for
    none, what installs all that is needed again."""
    if is_checkout():
        option = "gpu" if extra in _CUDA else extra
        return f"./dev setup --{option}" if option else "./dev setup"
    receipt = Path(sys.prefix) / "uv-receipt.toml"
    if receipt.is_file():
        others = [one for one in _received(receipt) if not {one, extra} <= {*_CUDA}]
        same = "{}.{}".format(*sys.version_info)  # uv forgets which Python it was
        return f"uv tool install --force --python {same} {_requirement(extra, *others)}"
    python = _quoted(sys.executable)
    pip = f"{python} -m pip install" if _has_pip() else f"uv pip install --python {python}"
    return f"{pip} {_requirement(extra)}"


def _has_pip() -> bool:
    from importlib import util

    return util.find_spec("pip") is not None


def _received(receipt: Path) -> list[str]:
    """The extras that `uv tool install` was asked for."""
    import tomllib

    found = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
    return [
        extra for each in found if each["name"] == "gradstep" for extra in each.get("extras", ())
    ]


def _requirement(*extras: str) -> str:
    """Gradstep with extras, from where it was installed: no index needs to have it."""
    named = ",".join(sorted({*filter(None, extras)}))
    named = f"[{named}]" if named else ""
    source = _source()
    if not source:
        return _quoted(f"gradstep{named}")
    if source.get("dir_info", {}).get("editable"):
        from urllib.request import url2pathname

        folder = url2pathname(source["url"].removeprefix("file://"))
        return f"--editable {_quoted(folder + named)}"
    return _quoted(f"gradstep{named} @ {_url(source)}")


def _source() -> dict[str, Any]:
    """Where the package came from (PEP 610); nothing for an index."""
    from importlib import metadata  # not loaded by a start that does not ask

    try:
        record = metadata.distribution("gradstep").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        record = None
    source: dict[str, Any] = json.loads(record) if record else {}
    return source


def _url(source: dict[str, Any]) -> str:
    """As pip takes it."""
    url = str(source["url"])
    if "vcs_info" in source:
        url = f"{source['vcs_info']['vcs']}+{url}@{source['vcs_info']['commit_id']}"
    inside = source.get("subdirectory")
    return f"{url}#subdirectory={inside}" if inside else url


def _quoted(word: str) -> str:
    return subprocess.list2cmdline([word]) if sys.platform == "win32" else shlex.quote(word)
