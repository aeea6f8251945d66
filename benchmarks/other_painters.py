"""Two other painters of `bot.pictures.scene_layout`, as baselines of `python -m benchmarks pictures`.

Both paint the same cards, boxes and letters with plain calls to their libraries, in true colour or in the library's own
palette.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import as_file
from io import BytesIO
from xml.sax.saxutils import escape

from bot.panel_picture import Deck
from bot.pictures import cards, sprites
from bot.pictures.canvas import WIDTH, Box, CardAt, Item, TextAt
from bot.pictures.colours import COLOURS, Colour
from bot.pictures.lettering import drawable_text
from bot.pictures.painter import FONT
from bot.pictures.scene import Scene
from bot.pictures.scene_layout import lay_out

ANCHORS = {"left": "start", "middle": "middle", "right": "end"}


def resvg_painter() -> Callable[[Scene], bytes]:
    """Return a painter that renders the whole table from one SVG for each picture."""
    import resvg_py  # noqa: PLC0415 - a painter's library can be missing

    def paint(scene: Scene) -> bytes:
        height, items, _curves = lay_out(scene)
        elements = "".join(_svg(item, scene.deck) for item in items)
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">'
            f'<rect width="{WIDTH}" height="{height}" fill="{_hex("felt")}"/>{elements}</svg>'
        )
        with as_file(FONT) as font:
            png = resvg_py.svg_to_bytes(svg_string=svg, width=WIDTH, skip_system_fonts=True, font_files=[str(font)])
        return bytes(png)

    return paint


def _svg(item: Item, deck: Deck) -> str:
    match item:
        case CardAt(code, x, y, width, visible, is_dim):
            visible_width = visible * cards.WIDTH // width
            card = (cards.card_svg(code, deck) if code else cards.back_svg(deck)).partition(">")[2]
            return (
                f'<svg x="{x}" y="{y}" width="{width}" height="{visible}" viewBox="0 0 {cards.WIDTH} {visible_width}">'
                f'<g opacity="{1 - sprites.DIM_SHARE if is_dim else 1}">{card.removesuffix("</svg>")}</g></svg>'
            )
        case Box(x, y, width, height, colour, radius):
            return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" fill="{_hex(colour)}"/>'
        case TextAt():
            place = f'x="{item.x}" y="{item.y + item.size // 3}" text-anchor="{ANCHORS[item.anchor]}"'
            font = f'font-family="Fira Sans SemiBold" font-size="{item.size}" fill="{_hex(item.colour)}"'
            return f"<text {place} {font}>{escape(drawable_text(item.text))}</text>"


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*COLOURS[colour])


def vips_painter() -> Callable[[Scene], bytes]:
    """Return a painter that makes cards, boxes and texts once, and composes them with libvips."""
    import pyvips  # noqa: PLC0415

    @lru_cache(1000)
    def card(deck: Deck, item: CardAt) -> pyvips.Image:
        file = BytesIO()
        sprites.raster(deck, item.code, item.width).save(file, "PNG")
        image = pyvips.Image.new_from_buffer(file.getvalue(), "").crop(0, 0, item.width, item.visible)
        return (image * [1, 1, 1, 1 - sprites.DIM_SHARE if item.is_dim else 1]).cast("uchar").copy_memory()

    @lru_cache(1000)
    def box(width: int, height: int, radius: int, colour: Colour) -> pyvips.Image:
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
            f'<rect width="{width}" height="{height}" rx="{radius}" fill="{_hex(colour)}"/></svg>'
        )
        return pyvips.Image.svgload_buffer(svg.encode()).copy_memory()

    @lru_cache(1000)
    def text(words: str, size: int, colour: Colour) -> pyvips.Image:
        with as_file(FONT) as font:
            mask = pyvips.Image.text(words, font=f"Fira Sans SemiBold {size}", fontfile=str(font), dpi=72)
        ink = mask.new_from_image(list(COLOURS[colour])).copy(interpretation="srgb")
        return ink.bandjoin(mask).copy_memory()

    def make_image(item: Item, deck: Deck) -> tuple[pyvips.Image, int, int]:
        match item:
            case CardAt():
                return card(deck, item._replace(x=0, y=0)), item.x, item.y
            case Box():
                return box(item.width, item.height, item.radius, item.colour), item.x, item.y
            case TextAt():
                image = text(drawable_text(item.text) or " ", item.size, item.colour)
                shift = {"left": 0, "middle": image.width // 2, "right": image.width}[item.anchor]
                return image, item.x - shift, item.y - image.height // 2

    def paint(scene: Scene) -> bytes:
        height, items, _curves = lay_out(scene)
        images, left_edges, top_edges = zip(*[make_image(item, scene.deck) for item in items], strict=True)
        background = pyvips.Image.black(WIDTH, height, bands=3).copy(interpretation="srgb") + list(COLOURS["felt"])
        whole = background.cast("uchar").composite(list(images), "over", x=list(left_edges), y=list(top_edges))
        png: bytes = whole.flatten().pngsave_buffer(palette=True, effort=1, compression=5)
        return png

    return paint
