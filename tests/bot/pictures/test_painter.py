"""Painted pictures: the same bytes for the same scene, a limited size, and a font with all letters."""

from io import BytesIO
from random import Random

import pytest
from PIL import Image, ImageFont

from benchmarks.pictures import scenes_of
from bot.pictures.canvas import WIDTH
from bot.pictures.colours import COLOURS
from bot.pictures.lettering import LETTERS, drawable_text
from bot.pictures.painter import FONT, paint
from bot.pictures.png import encode_png
from bot.pictures.scene_layout import lay_out
from engine import GAMES
from tests.long import mostly_long

MAX_BYTES = 80_000  # limit for a picture in a message


@pytest.mark.parametrize("game", mostly_long(GAMES, "spades"))
def test_painting_does_not_depend_on_earlier_scenes(game: str) -> None:
    scenes = scenes_of(game, "classic")[::6]
    painted = [paint(scene) for scene in scenes]
    numbers = list(range(len(scenes)))
    Random(1).shuffle(numbers)
    assert all(paint(scenes[number]) == painted[number] for number in numbers)
    assert all(len(png) < MAX_BYTES for png in painted)


def test_picture_is_a_png_on_felt_with_the_size_of_its_layout() -> None:
    scene = scenes_of("metamazzo", "classic")[8]
    image = Image.open(BytesIO(paint(scene)))
    assert image.format == "PNG"
    assert image.size == (WIDTH, lay_out(scene).height)
    assert image.convert("RGB").getpixel((2, 100)) == COLOURS["felt"]


def test_font_has_every_drawable_letter() -> None:
    font = ImageFont.truetype(BytesIO(FONT.read_bytes()), 40)
    missing_glyph = bytes(font.getmask("\U0010ffff"))
    undrawn = [
        char for char in LETTERS if char.isprintable() and char != " " and bytes(font.getmask(char)) == missing_glyph
    ]
    assert not undrawn, f"{FONT} has no glyph for {undrawn}: remove them from LETTERS or extend the font"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Zoë Łukasz", "Zoë Łukasz"),
        ("🤖 Nonna Rosa", "Nonna Rosa"),
        ("𝓐𝓷𝓷𝓪", "Anna"),
        ("Ｂｅａ", "Bea"),
        ("\u2068Ελένη\u2069 Ж", "Ελένη Ж"),
        ("Caffe\u0300", "Caffè"),
        ("王小明", ""),
        ("🎲🎲", ""),
        ("4⅓", "4 1/3"),
        ("⅔", "2/3"),
        ("−⅓", "−1/3"),
    ],
)
def test_only_undrawable_characters_are_cut_from_names(name: str, expected: str) -> None:
    assert drawable_text(name) == expected


def test_png_keeps_pixels_and_palette() -> None:
    random = Random(3)
    image = Image.new("P", (37, 11))
    image.putpalette(random.randbytes(3 * 200))
    image.putdata([random.randrange(200) for _ in range(37 * 11)])
    decoded = Image.open(BytesIO(encode_png(image)))
    decoded.load()
    assert (decoded.format, decoded.mode, decoded.size) == ("PNG", "P", image.size)
    assert decoded.tobytes() == image.tobytes()
    assert decoded.getpalette() == image.getpalette()
