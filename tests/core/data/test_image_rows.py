"""Images as values: the pixels that were saved, in the declared arrangement, or one clear line."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from PIL import Image

from gradstep.core.data.array_files import Reading, read_array
from gradstep.core.data.image_paths import natural_key
from gradstep.core.data.value_text import typed_value
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.io.disk.memory_budget import Budget

NOISE = np.random.default_rng(0).integers(0, 256, (12, 5, 7, 4), np.uint8)  # no two sizes alike


def fill(folder: Path, count: int, channels: int, suffix: str = ".png") -> np.ndarray:
    """Images 0.png, 1.png, …; their pixels."""
    pixels = NOISE[:count, ..., :channels]
    for number, image in enumerate(pixels):
        saved = Image.fromarray(image[..., 0] if channels == 1 else image)
        saved.save(folder / f"{number}{suffix}")
    return pixels


def value(place: str, folder: Path, *shape: int | None, dtype: DType = DType.FLOAT32) -> np.ndarray:
    return typed_value(f"@{place}", TensorType(dtype, Shape(shape)), "x", Reading(folder))


def refusal(place: str, folder: Path, *shape: int | None, budget: int = 1 << 30) -> GradstepError:
    kind = TensorType(DType.FLOAT32, Shape(shape))
    with pytest.raises(GradstepError) as caught:
        typed_value(f"@{place}", kind, "x", Reading(folder, Budget(budget)))
    assert "\n" not in caught.value.message
    assert caught.value.hint
    return caught.value


def grey(pixels: np.ndarray) -> np.ndarray:
    """Of RGB, by the weights that the page says, to the nearest whole number."""
    return np.rint(pixels[..., :3] @ np.array([0.299, 0.587, 0.114]))


def test_rows_of_images_as_they_are_declared(tmp_path: Path) -> None:
    rgb = fill(tmp_path, 12, 3)
    for place in ("*.png", ".", "?.png", "1?.png"):
        rows = [*range(12)] if place in ("*.png", ".") else [*range(10)]
        rows = [10, 11] if place == "1?.png" else rows
        wanted = rgb[rows]
        for shape, expected in (
            ((None, 5, 7, 3), wanted),
            ((None, None, None, None), wanted),
            ((len(rows), 5, 7, 3), wanted),
            ((None, 3, 5, 7), np.moveaxis(wanted, -1, 1)),
            ((None, 105), wanted.reshape(-1, 105)),
        ):
            np.testing.assert_array_equal(value(place, tmp_path, *shape), expected)
        for shape in ((None, 5, 7, 1), (None, 5, 7), (None, 35), (None, 1, 5, 7)):
            found = value(place, tmp_path, *shape).reshape(-1, 5, 7)
            assert np.abs(found - grey(wanted)).max() <= 1
        opaque = value(place, tmp_path, None, 5, 7, 4)
        np.testing.assert_array_equal(opaque[..., :3], wanted)
        assert (opaque[..., 3] == 255).all()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.integers(1, 4),
    channels=st.sampled_from((1, 3, 4)),
    form=st.sampled_from(("last", "first", "flat")),
    wanted=st.sampled_from((1, 3, 4)),
    free=st.sets(st.integers(0, 3)),
)
def test_no_arrangement_mixes_pixels_up(
    tmp_path: Path, count: int, channels: int, form: str, wanted: int, free: set[int]
) -> None:
    """Whatever is declared, of whatever images: each number is that of its place."""
    for old in tmp_path.iterdir():
        old.unlink()
    pixels = fill(tmp_path, count, channels)
    known = [count, 5, 7, wanted] if form == "last" else [count, wanted, 5, 7]
    known = [count, 35 * wanted] if form == "flat" else known
    decided = 3 if form == "last" else 1  # the axis that says how many channels
    shape = [None if axis in free - {decided} else size for axis, size in enumerate(known)]
    found = value("*.png", tmp_path, *shape)
    assert [*found.shape] == known
    found = found.reshape(count, 5, 7, wanted) if form == "flat" else found
    found = np.moveaxis(found, 1, -1) if form == "first" else found
    if wanted == 1 and channels > 1:
        assert np.abs(found[..., 0] - grey(pixels)).max() <= 1
        return
    colours = np.broadcast_to(pixels[..., : min(channels, 3)], (count, 5, 7, 3))
    np.testing.assert_array_equal(found[..., :3], colours[..., : min(wanted, 3)])
    if wanted == 4:
        alpha = pixels[..., 3] if channels == 4 else np.full((count, 5, 7), 255)
        np.testing.assert_array_equal(found[..., 3], alpha)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((5, 7, 3), (5, 7, 3)),
        ((3, 5, 7), (3, 5, 7)),
        ((None, 5, 7, 3), (1, 5, 7, 3)),
        ((None, 5, 7), (1, 5, 7)),
        ((5, 7), (5, 7)),
        ((105,), (105,)),
        ((None, 105), (1, 105)),
        ((None, None, None), (5, 7, 3)),
    ],
)
def test_one_image_by_its_name(
    tmp_path: Path, shape: tuple[int | None, ...], expected: tuple[int, ...]
) -> None:
    fill(tmp_path, 1, 3)
    assert value("0.png", tmp_path, *shape).shape == expected


def test_the_shape_is_the_images_own_where_none_is_declared(tmp_path: Path) -> None:
    fill(tmp_path, 2, 1)
    reading = Reading(tmp_path, shape=UNKNOWN)
    assert read_array("*.png", reading)[0].shape == (2, 5, 7, 1)
    assert read_array("1.png", reading)[0].shape == (5, 7, 1)
    Image.fromarray(NOISE[0, ..., :3]).save(tmp_path / "2.png")
    assert read_array("*.png", reading)[0].shape == (3, 5, 7, 3), "one of them has colours"


def test_other_formats_and_depths(tmp_path: Path) -> None:
    rgb = fill(tmp_path, 1, 3, ".bmp")[0]
    Image.fromarray(rgb).save(tmp_path / "a.tiff")
    Image.fromarray(rgb).save(tmp_path / "a.webp", lossless=True)
    Image.fromarray(rgb).save(tmp_path / "a.ppm")
    Image.fromarray(rgb).save(tmp_path / "a.jpg", quality=95)
    (tmp_path / "a.jpg").rename(tmp_path / "photo")  # known by what is in it
    for name in ("0.bmp", "a.tiff", "a.webp", "a.ppm"):
        np.testing.assert_array_equal(value(name, tmp_path, 5, 7, 3), rgb)
    assert value("photo", tmp_path, 5, 7, 3).shape == (5, 7, 3)
    deep = np.arange(35, dtype=np.uint16).reshape(5, 7) * 1800
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(value("deep.png", tmp_path, 5, 7, dtype=DType.INT32), deep)
    np.testing.assert_array_equal(value("deep.png", tmp_path, 5, 7, 3)[..., 2], deep)
    Image.fromarray(rgb).quantize(8).save(tmp_path / "palette.png")
    assert value("palette.png", tmp_path, 5, 7, 3).std() > 0
    assert value("palette.png", tmp_path, 5, 7).std() > 0
    Image.fromarray(rgb[..., 0] > 99).save(tmp_path / "bits.png")
    np.testing.assert_array_equal(value("bits.png", tmp_path, 5, 7), 255 * (rgb[..., 0] > 99))


def test_numbers_are_changed_as_is_said(tmp_path: Path) -> None:
    pixels = fill(tmp_path, 3, 1)
    found = value("*.png | scale(1/255)", tmp_path, None, 5, 7, 1)
    np.testing.assert_allclose(found, pixels / 255, rtol=1e-6)
    found = value("*.png | standardise", tmp_path, None, 35)
    rows = pixels.reshape(3, 35).astype(float)
    expected = (rows - rows.mean(0)) / np.where(rows.std(0) == 0, 1, rows.std(0))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert "no transform 'scal'" in refusal("*.png | scal(2)", tmp_path, None, 35).message
    np.save(tmp_path / "a|b.npy", np.arange(3))  # a file that is called so
    assert value("a|b.npy", tmp_path, 3).tolist() == [0, 1, 2]
    np.save(tmp_path / "y.npy", np.array([1, 0]))
    assert value("y.npy | one_hot(3)", tmp_path, None, 3).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_sizes_that_differ_are_said_by_the_first_file(tmp_path: Path) -> None:
    fill(tmp_path, 3, 3)
    Image.fromarray(NOISE[0, :4, :, :3]).save(tmp_path / "1.png")
    error = refusal("*.png", tmp_path, None, 5, 7, 3)
    assert error.message == "1.png has 4×7 pixels, and 0.png 5×7"
    assert refusal("1.png", tmp_path, None, 5, 7, 3).message == (
        "1.png has 4×7 pixels, which do not fit [?, 5, 7, 3]"
    )


def test_depths_that_differ(tmp_path: Path) -> None:
    fill(tmp_path, 1, 1)
    Image.fromarray(np.zeros((5, 7), np.uint16)).save(tmp_path / "1.png")
    assert refusal("*.png", tmp_path, None, 5, 7).message == ("1.png holds uint16, and 0.png uint8")


def test_another_number_of_rows(tmp_path: Path) -> None:
    fill(tmp_path, 3, 3)
    error = refusal("*.png", tmp_path, 4, 5, 7, 3)
    assert type(error).__name__ == "RowsMisfitError"
    assert error.message == "shape [3, 5, 7, 3] does not fit [4, 5, 7, 3]"


def test_memory_is_asked_for_before_a_pixel_is_decoded(tmp_path: Path) -> None:
    fill(tmp_path, 12, 3)
    said = refusal("*.png", tmp_path, None, 5, 7, 3, budget=1000).message
    assert said.startswith("*.png: it takes 1.2 KiB of memory")
    assert "the pixels of 12 images" in said
    (tmp_path / "huge.png").write_bytes(png(9000, 9000))
    said = refusal("huge.png", tmp_path, None, None, 3, budget=1 << 20).message
    assert said.startswith("huge.png: it takes 232 MiB of memory")


@pytest.mark.parametrize("side", [60_000, 2**31 - 1])
def test_a_bomb_is_refused_by_its_header(tmp_path: Path, side: int) -> None:
    (tmp_path / "bomb.png").write_bytes(png(side, side))
    assert refusal("bomb.png", tmp_path, None, None, 3).message.startswith("bomb.png ")


def png(width: int, height: int) -> bytes:
    """Of RGB, with no pixel in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b""))


def test_what_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("1,2")
    assert refusal("text.png", tmp_path, 3).message == (
        "text.png is no image, or one that is not known here"
    )
    (tmp_path / "empty").mkdir()
    for place in ("empty", "empty/", str(tmp_path / "empty")):
        assert "is a folder without images" in refusal(place, tmp_path, 3).message
    assert refusal("*.gif", tmp_path, 3).message == "no file is called *.gif"
    assert "is no pattern" in refusal("x**/*.png", tmp_path, 3).message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    suffix=st.sampled_from((".png", ".jpg", ".gif", ".bmp", ".webp", ".tiff", ".ppm")),
    cut=st.floats(0, 1),
    at=st.floats(0, 0.999),
    byte=st.integers(0, 255),
    whole=st.booleans(),
)
def test_no_bytes_are_more_than_an_image_or_one_line_with_its_name(
    tmp_path: Path, suffix: str, cut: float, at: float, byte: int, whole: bool
) -> None:
    path = tmp_path / f"x{suffix}"
    Image.fromarray(NOISE[0, ..., :3]).save(path)
    data = bytearray(path.read_bytes())
    data[int(at * len(data))] = byte
    path.write_bytes(data if whole else data[: int(cut * len(data))])
    found, said = found_or_said(lambda: value(path.name, tmp_path, None, None, 3))
    assert path.name in said or "does not fit" in said or found.shape[-1] == 3
    assert "\n" not in said


def found_or_said(read: Callable[[], np.ndarray]) -> tuple[Any, str]:
    """What is read, or the error's message."""
    try:
        return read(), ""
    except GradstepError as error:
        return None, error.message if error.hint else "no hint"


NAMES = st.text(st.sampled_from("ab019 _.²"), max_size=6)


@given(names=st.lists(NAMES, max_size=8), prefix=NAMES, numbers=st.lists(st.integers(0, 10**6)))
def test_the_order_is_that_in_which_people_count(
    names: list[str], prefix: str, numbers: list[int]
) -> None:
    others = names[::-1]
    once = sorted(names, key=natural_key)
    assert sorted(others, key=natural_key) == once, "one order, however they come"
    counted = sorted((f"{prefix}-{number}.png" for number in numbers), key=natural_key)
    assert counted == [f"{prefix}-{number}.png" for number in sorted(numbers)]


def test_folders_within_folders(tmp_path: Path) -> None:
    for name in ("cats", "dogs"):
        (tmp_path / name).mkdir()
        fill(tmp_path / name, 2, 1)
    (tmp_path / "cats" / "notes.txt").write_text("not an image")
    assert value("*/*.png", tmp_path, None, 35).shape == (4, 35)
    assert value("**/1.png", tmp_path, None, 35).shape == (2, 35)
    assert value("cats", tmp_path, None, 35).shape == (2, 35), "notes are left alone"
    assert value(f"{tmp_path}/dogs/*.png", Path("elsewhere"), None, 35).shape == (2, 35)
    Image.fromarray(NOISE[0, ..., 0]).save(tmp_path / "a[1].png")
    assert value("a[1].png", tmp_path, 5, 7).shape == (5, 7), "a file that is called so"
