"""Paints a scene or sheet as PNG. Runs in its own process (`bot.pictures.pool`), which caches cards."""

from functools import lru_cache
from importlib.resources import files
from io import BytesIO

from PIL import Image, ImageChops, ImageDraw, ImageFont

from bot.panel_picture import Subject
from bot.pictures.canvas import WIDTH, Box, CardAt, CurveAt, TextAt
from bot.pictures.lettering import ELLIPSIS, drawable_text
from bot.pictures.png import encode_png
from bot.pictures.scene import Scene
from bot.pictures.scene_layout import lay_out
from bot.pictures.sheet import Sheet
from bot.pictures.sheet_layout import lay_out_sheet
from bot.pictures.sprites import SHADES, Palette, mask, palette, sprite

FONT = files("bot") / "pictures" / "fonts" / "fira-sans.ttf"

TEXTS_KEPT = 300  # cached lines of text, about 8 kB each; most occur again, for example names
CURVE_SCALE = 3  # curves are drawn this many times larger, then reduced
MARK_RADIUS, RING_WIDTH = 9, 4  # pixels
FAINT = 255 // (2 * SHADES)  # pixels of a curve with at most this coverage stay as they are


def paint(subject: Subject) -> bytes:
    """Return the picture as PNG. The same subject always gives the same bytes."""
    colours = palette(subject.deck)
    assert isinstance(subject, Scene | Sheet)
    laid_out = lay_out(subject) if isinstance(subject, Scene) else lay_out_sheet(subject)
    image = Image.new("P", (WIDTH, laid_out.height), colours.numbers["felt"])
    image.putpalette(colours.flat)
    draw = ImageDraw.Draw(image)
    for item in laid_out.items:
        match item:
            case CardAt():
                box = (0, 0, item.width, item.visible)
                card = sprite(subject.deck, item.code, item.width).crop(box)
                painted_card = card.point(colours.dimmed) if item.is_dim else card
                image.paste(painted_card, (item.x, item.y), mask(item.width).crop(box))
            case Box():
                corners = (item.x, item.y, item.x + item.width - 1, item.y + item.height - 1)
                draw.rounded_rectangle(corners, item.radius, fill=colours.numbers[item.colour])
            case TextAt():
                shade = colours.shades[item.colour, item.ground]
                text_image = _render_text(item.text, item.size, item.max_width, shade)
                x = item.x - {"left": 0, "middle": text_image.width // 2, "right": text_image.width}[item.anchor]
                image.paste(text_image, (x, item.y - text_image.height // 2))
    for curve in laid_out.curves:
        _draw_curve(image, curve, colours)
    return encode_png(image)


def _draw_curve(image: Image.Image, item: CurveAt, colours: Palette) -> None:
    """Draw a line and its marks, enlarged and then reduced for smooth edges."""
    reach = MARK_RADIUS + item.width
    left, top = (min(point[axis] for point in item.points) - reach for axis in (0, 1))
    right, bottom = (max(point[axis] for point in item.points) + reach for axis in (0, 1))
    enlarged = Image.new("L", (CURVE_SCALE * (right - left), CURVE_SCALE * (bottom - top)))
    draw = ImageDraw.Draw(enlarged)
    points = [(CURVE_SCALE * (x - left), CURVE_SCALE * (y - top)) for x, y in item.points]
    draw.line(points, fill=255, width=CURVE_SCALE * item.width, joint="curve")
    for (x, y), is_filled in zip(points, item.marks, strict=False):
        dot_radius = CURVE_SCALE * MARK_RADIUS
        corners = (x - dot_radius, y - dot_radius, x + dot_radius, y + dot_radius)
        draw.ellipse(corners, fill=255 if is_filled else 0, outline=255, width=CURVE_SCALE * RING_WIDTH)
    coverage = enlarged.reduce(CURVE_SCALE)
    shades = coverage.point(_shade_table(colours.shades[item.colour, item.ground]))
    dot_centres = Image.new("L", enlarged.size)
    draw = ImageDraw.Draw(dot_centres)
    for (x, y), _mark in zip(points, item.marks, strict=False):
        dot_radius = CURVE_SCALE * (MARK_RADIUS - 1)
        draw.ellipse((x - dot_radius, y - dot_radius, x + dot_radius, y + dot_radius), fill=255)
    covered = ImageChops.lighter(coverage, dot_centres.reduce(CURVE_SCALE))
    image.paste(shades, (left, top), covered.point(lambda value: 255 * (value > FAINT), "1"))


def _shade_table(first_shade: int) -> list[int]:
    """Return the palette index for each coverage from 0 to 255, with the shades from ``first_shade`` on."""
    return [first_shade + value * (SHADES - 1) // 255 for value in range(256)]


@lru_cache(TEXTS_KEPT)
def _render_text(text: str, size: int, max_width: int, first_shade: int) -> Image.Image:
    """Return a line of text on its ground, shrunk or cut to ``max_width`` pixels."""
    text, font = fit_text(drawable_text(text), size, max_width)
    letters = Image.new("L", (max(1, round(font.getlength(text))), size + size // 2))
    ImageDraw.Draw(letters).text((0, letters.height // 2), text, fill=255, font=font, anchor="lm")
    return letters.point(_shade_table(first_shade))


def fit_text(text: str, size: int, max_width: int) -> tuple[str, ImageFont.FreeTypeFont]:
    """Return the text that fits in ``max_width`` pixels, and its font."""
    for scale in (1.0, 0.9, 0.8):
        font = _font(round(scale * size))
        if font.getlength(text) <= max_width:
            return text, font
    while text and font.getlength(text + ELLIPSIS) > max_width:
        text = text[:-1]
    return text.rstrip() + ELLIPSIS, font


@lru_cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    # The basic layout does not depend on other installed libraries.
    return ImageFont.truetype(BytesIO(FONT.read_bytes()), size, layout_engine=ImageFont.Layout.BASIC)
