"""What every test has: a home of its own, no display unless it asks for one, a quiet collector."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.support import fewer_tests
from tests.support.fewer_tests import pytest_addoption, pytest_ignore_collect
from tests.support.forked_engine import Server
from tests.support.shared_imports import import_share

__all__ = ["pytest_addoption", "pytest_ignore_collect"]  # hooks

# Set before anything imports Qt or asks for a folder. Engine processes inherit it.
HOME = Path(tempfile.mkdtemp(prefix="gradstep-tests-"))
FOLDERS = {
    "XDG_CONFIG_HOME": HOME / "config",
    "XDG_DATA_HOME": HOME / "data",
    "XDG_STATE_HOME": HOME / "state",
    "XDG_CACHE_HOME": HOME / "cache",  # not emptied between tests: fontconfig's cache is in it
    "XDG_RUNTIME_DIR": HOME / "runtime",
}
os.environ.update(
    {name: str(folder) for name, folder in FOLDERS.items()},
    HOME=str(HOME),
    QT_API="pyside6",
    PYQTGRAPH_QT_LIB="PySide6",
    QT_SCALE_FACTOR="1",
    LC_ALL="C.UTF-8",
)
if "PYTEST_XDIST_WORKER" in os.environ:  # OpenBLAS's threads wait for each other in loops: where
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a worker has each core, for most of a test

_SLOW_MACHINE = [HealthCheck.too_slow]
_FEW = {
    "deadline": None,
    "suppress_health_check": _SLOW_MACHINE,
    "max_examples": 40,
    "stateful_step_count": 30,
}
settings.register_profile("dev", **_FEW)  # other examples in each run
# The same examples in each run: what a ninth finds it finds once,
# and never again; other ones, and more, are drawn by hand.
settings.register_profile("ci", **{**_FEW, "max_examples": 8}, derandomize=True, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.register_profile("quick", **{**_FEW, "max_examples": 10, "stateful_step_count": 15})
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev")
settings.load_profile(PROFILE)
if PROFILE == "ci":
    # Hypothesis reads the source of whatever is loaded, and draws the numbers in it, too: which
    # examples a test has would hang on the tests that its worker had before.
    providers.is_local_module_file = lambda file: False


_WIDGETS = 400  # a window has more
_left = 0  # widgets after the last test
_WHOLE = 600  # tests between two collections of everything
_OFTEN = 8  # tests without a window between two collections of what is new
_since = 0  # tests, that what is left has been put aside


def wants_window_system(config: pytest.Config) -> bool:
    return config.option.markexpr.strip() == "xvfb"


def pytest_configure(config: pytest.Config) -> None:
    if config.option.quick and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("quick")
    gc.disable()  # collecting makes a million objects that stay: to go through them takes a sixth
    platform = "xcb" if wants_window_system(config) else "offscreen"
    os.environ["QT_QPA_PLATFORM"] = platform
    os.environ.pop("WAYLAND_DISPLAY", None)


def pytest_xvfb_disable(config: pytest.Config) -> bool:
    return not wants_window_system(config)


def pytest_collection(session: pytest.Session) -> None:
    import_share(session.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    fewer_tests.drop(config, items)
    if wants_window_system(config):
        return
    for item in items:
        if item.get_closest_marker("xvfb"):
            item.add_marker(pytest.mark.skip(reason="needs a window system: pytest -m xvfb"))


def pytest_collection_finish() -> None:
    """From here on the collector runs between tests, in the main thread, and nowhere else: run in
    a worker thread or amid a paint it takes Qt's objects away under Qt's feet."""
    gc.collect()
    gc.freeze()
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What the test made and left in cycles. To go through all there is takes milliseconds, which
    add up to minutes: that is done now and then, and between modules, when what they share is gone,
    what is left then stays out of later collections, which tests make, too."""
    global _since
    gc.disable()  # the test may have ended with it on, and no test after it would know
    _since += 1
    if "gui" in item.path.parts or _since % _OFTEN == 0:
        gc.collect(2 if _since % _WHOLE == 0 else 1)
    if _since >= _WHOLE and (nextitem is None or nextitem.path != item.path):
        gc.collect()
        gc.freeze()
        _since = 0
    _no_window_is_left()


def _no_window_is_left() -> None:
    """Each that is makes every later test of a window slower: a style sheet that is set goes to all
    widgets that there are."""
    global _left
    widgets, core = (sys.modules.get(f"PySide6.Qt{name}") for name in ("Widgets", "Core"))
    if widgets is None or core is None or widgets.QApplication.instance() is None:
        return
    before, _left = _left, _count_widgets()
    if _left > before + _WIDGETS:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)
        gc.collect()  # labels that nobody holds
        _left = _count_widgets()
        tops = {type(top).__name__ for top in widgets.QApplication.topLevelWidgets()}
        assert _left <= before + _WIDGETS, f"{tops} are left; delete() takes windows away"


def _count_widgets() -> int:
    """Without those of a window that the next test gets, too: to look at them takes longer than
    most tests that come behind it."""
    widgets, keeping = (
        sys.modules["PySide6.QtWidgets"],
        sys.modules.get("tests.support.kept_window"),
    )
    kept = [] if keeping is None else keeping.kept_windows()
    tops = [top for top in widgets.QApplication.topLevelWidgets() if top.parentWidget() is None]
    others = [top for top in tops if top not in kept]
    return sum(1 + len(top.findChildren(widgets.QWidget)) for top in others)


def pytest_unconfigure() -> None:
    shutil.rmtree(HOME, ignore_errors=True)
    _empty_clipboard()


def _empty_clipboard() -> None:
    """Off screen, what was copied is deleted after the interpreter has gone: with what is Python's
    in it, that is a crash."""
    gui = sys.modules.get("PySide6.QtGui")
    if gui is not None and gui.QGuiApplication.instance() is not None:
        gui.QGuiApplication.clipboard().clear()


def _empty(folder: Path) -> None:
    """Most tests leave nothing there: to make the folder anew would take longer than they do."""
    with contextlib.suppress(OSError):
        if not os.listdir(folder):
            os.chmod(folder, 0o700)
            return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)


@pytest.fixture(scope="session")
def engine_server() -> Server:
    """The process that engines are forked from; it starts when the first one is wanted."""
    return Server()


@pytest.fixture(autouse=True)
def fresh_home() -> Path:
    """An empty home for each test: no settings, no trusted code, no recent files."""
    for name, folder in FOLDERS.items():
        if name != "XDG_CACHE_HOME":
            _empty(folder)
    return HOME
