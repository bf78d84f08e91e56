"""A menu entry, icons and a file type for one user, as files below the user's data folder.

Desktop Entry, Icon Theme, Shared MIME-info Database and Base Directory specifications:
specifications.freedesktop.org.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from gradstep.core.installation import ROOT
from gradstep.core.io.native.zip_archive import MIMETYPE

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)  # pixels; what menus and docks ask for
_NAME = "gradstep"  # also what the window calls itself, by which a dock finds the entry
_ENTRY = """\
[Desktop Entry]
Type=Application
Version=1.1
Name=Gradstep
GenericName=Backpropagation Debugger
Comment=Step through a computation graph and its gradients
Exec={exec} %f
TryExec={command}
Icon={name}
Terminal=false
StartupNotify=true
StartupWMClass={name}
Categories=Development;Debugger;
Keywords=gradient;backpropagation;neural network;TensorFlow;
MimeType={type};
"""
# The first part of our zip is `mimetype`, uncompressed: its name and contents lie at byte 30.
_TYPE = """\
<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{type}">
    <comment>Gradstep document</comment>
    <sub-class-of type="application/zip"/>
    <icon name="{name}"/>
    <magic priority="60">
      <match type="string" offset="0" value="PK\\003\\004">
        <match type="string" offset="30" value="mimetype{type}"/>
      </match>
    </magic>
    <glob pattern="*.gradstep"/>
  </mime-type>
</mime-info>
"""


def data_home() -> Path:
    """The user's data folder: $XDG_DATA_HOME where that is an absolute path, as the Base Directory
    Specification has it."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"


def entry_files(command: Path, icon: Callable[[int], bytes]) -> Mapping[Path, bytes]:
    """All files, by where they belong. command: absolute, what a click starts. icon: the icon as a
    PNG, so many pixels wide."""
    home = data_home()
    icons = home / "icons" / "hicolor"
    files = {
        home / "applications" / f"{_NAME}.desktop": _entry(command).encode(),
        home / "mime" / "packages" / f"{_NAME}.xml": _TYPE.format(
            type=MIMETYPE, name=_NAME
        ).encode(),
        icons / "scalable" / "apps" / f"{_NAME}.svg": (
            ROOT / "assets" / "icons" / f"{_NAME}.svg"
        ).read_bytes(),
    }
    for size in SIZES:
        files[icons / f"{size}x{size}" / "apps" / f"{_NAME}.png"] = icon(size)
    return files


def _entry(command: Path) -> str:
    path = str(command)
    return _ENTRY.format(
        exec=exec_word(path), command=escape_value(path), name=_NAME, type=MIMETYPE
    )


def exec_word(path: str) -> str:
    """`path` as one word of the key Exec: quoted, its field codes and its escapes written twice."""
    quoted = "".join(f"\\{c}" if c in '"`$\\' else c for c in path).replace("%", "%%")
    return escape_value(f'"{quoted}"')


def escape_value(text: str) -> str:
    """`text` as the value of a key."""
    for old, new in (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(old, new)
    return text
