"""What is remembered between starts, in one INI file: looks, recent files, window, limits."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

RECENT = 12  # files
RECORDING_LIMIT = 2 << 30  # bytes


class Settings:
    """Typed access to an INI file; anything damaged or missing reads as the default."""

    def __init__(self, path: Path) -> None:
        self._store = QSettings(str(path), QSettings.Format.IniFormat)

    def _text(self, key: str, default: str, allowed: tuple[str, ...] = ()) -> str:
        value = self._store.value(key, default)
        if not isinstance(value, str) or (allowed and value not in allowed):
            return default
        return value

    @property
    def theme(self) -> str:
        """ "light", "dark" or "system"."""
        return self._text("look/theme", "system", ("light", "dark", "system"))

    @theme.setter
    def theme(self, choice: str) -> None:
        self._store.setValue("look/theme", choice)

    @property
    def motion(self) -> bool:
        """Whether the window may move things by itself."""
        return self._text("look/motion", "on") == "on"

    @motion.setter
    def motion(self, on: bool) -> None:
        self._store.setValue("look/motion", "on" if on else "off")

    @property
    def pictures(self) -> bool:
        """Whether the canvas shows small pictures of values."""
        return self._text("look/pictures", "on") == "on"

    @pictures.setter
    def pictures(self, on: bool) -> None:
        self._store.setValue("look/pictures", "on" if on else "off")

    @property
    def stacks(self) -> bool:
        """Whether the canvas shows equal blocks in a row as one box."""
        return self._text("look/stacks", "on") == "on"

    @stacks.setter
    def stacks(self, on: bool) -> None:
        self._store.setValue("look/stacks", "on" if on else "off")

    @property
    def compare_with(self) -> str:
        """The device that the toolbar's Compare button compares with."""
        return self._text("devices/compare_with", "emulate:tf-gpu")

    @compare_with.setter
    def compare_with(self, device: str) -> None:
        self._store.setValue("devices/compare_with", device)

    @property
    def engine(self) -> str:
        """Where engines run: "ssh://host"; "" for this machine."""
        return self._text("engine/where", "")

    @engine.setter
    def engine(self, address: str) -> None:
        self._store.setValue("engine/where", address)
        if address:
            others = [other for other in self.engines if other != address]
            self._store.setValue("engine/known", [address, *others][:RECENT])

    @property
    def engines(self) -> list[str]:
        """Where they ran on other machines, the last one first."""
        return self._list("engine/known")

    @property
    def editor(self) -> str:
        """The command that opens a line of a file: `code -g {file}:{line}`; "" for the editor that
        is found."""
        return self._text("sources/editor", "")

    @editor.setter
    def editor(self, command: str) -> None:
        self._store.setValue("sources/editor", command)

    @property
    def lints_off(self) -> list[str]:
        """The codes of the lints that are not to look at documents."""
        return self._list("lints/off")

    @lints_off.setter
    def lints_off(self, codes: list[str]) -> None:
        self._store.setValue("lints/off", codes)

    @property
    def recording_limit(self) -> int:
        """Bytes of recorded runs that are kept."""
        try:
            return max(1 << 20, int(self._text("engine/recording_limit", str(RECORDING_LIMIT))))
        except ValueError:
            return RECORDING_LIMIT

    @recording_limit.setter
    def recording_limit(self, limit: int) -> None:
        self._store.setValue("engine/recording_limit", str(limit))

    @property
    def recent(self) -> list[Path]:
        """Files opened or saved, the last one first."""
        return [Path(text) for text in self._list("files/recent")]

    def add_recent(self, path: Path) -> None:
        others = [p for p in self.recent if p != path.absolute()]
        self._store.setValue("files/recent", [str(p) for p in [path.absolute(), *others][:RECENT]])

    def drop_recent(self, path: Path) -> None:
        """Forget a file that is not there any more."""
        self._store.setValue("files/recent", [str(p) for p in self.recent if p != path])

    def folders(self, kind: str) -> list[str]:
        """Where the user was last with a kind of file, and with any."""
        return [text for text in (self._text(f"folders/{k}", "") for k in (kind, "last")) if text]

    def add_folder(self, kind: str, folder: str) -> None:
        """The user is there with a file of this kind."""
        for key in (kind, "last"):
            self._store.setValue(f"folders/{key}", folder)

    @property
    def used_actions(self) -> list[str]:
        """Ids of actions run from the command palette, the last one first."""
        return self._list("palette/used")

    def add_used_action(self, id: str) -> None:
        others = [other for other in self.used_actions if other != id]
        self._store.setValue("palette/used", [id, *others][:RECENT])

    def window(self, key: str) -> QByteArray | None:
        """Saved geometry or dock state of the window."""
        value = self._store.value(f"window/{key}")
        return value if isinstance(value, QByteArray) else None

    def set_window(self, key: str, value: QByteArray | None) -> None:
        if value is None:
            self._store.remove(f"window/{key}")
        else:
            self._store.setValue(f"window/{key}", value)

    def clear(self) -> None:
        """Forget everything."""
        self._store.clear()

    def _list(self, key: str) -> list[str]:
        value: Any = self._store.value(key, [])
        if isinstance(value, str):  # how an INI file gives a list of one back
            return [value] if value else []
        return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


@cache
def settings() -> Settings:
    """The user's settings; where they are follows XDG_CONFIG_HOME."""
    import platformdirs

    return Settings(platformdirs.user_config_path("gradstep", appauthor=False) / "gradstep.ini")


def state_folder() -> Path:
    """Where unsaved work and the log are kept; follows XDG_STATE_HOME."""
    import platformdirs

    return platformdirs.user_state_path("gradstep", appauthor=False)
