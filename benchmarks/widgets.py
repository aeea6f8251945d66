"""`python -m benchmarks widgets`: a hand after a move on Telegram, as a widget, a photo and a text."""

import asyncio
import time
from collections.abc import Callable
from statistics import mean, median

import typer

from adapters.telegram import keyboard, text_entities
from adapters.telegram.photos import PART, Photo
from adapters.telegram.transport import Body, json_body, upload_body
from adapters.telegram.widget.document import compressed_size, hand_document
from adapters.telegram.widget.state import hand_state
from benchmarks.pictures import tables_of
from benchmarks.platforms import measure_presses, start_bot, start_server
from benchmarks.telegram import SERVER, make_adapter, make_picture_adapter, settings_for
from bot.panel import Panel
from bot.panel_picture import Live
from bot.panels.hand import hand_panel
from bot.pictures.painter import paint
from bot.pictures.scene import Scene
from bot.pictures.scene_builder import hand_scene
from bot.running import logs
from bot.running.run import tune_garbage_collector
from bot.tables.snapshot import take_snapshot
from bot.viewers import with_picture
from engine import GAMES

WHERE = {"chat_id": 123456789, "message_id": 1234}
UNITS = 1_000  # bytes in a kB
PRESS_TABLES, PRESSES, PRESS_RATE = 20, 400, 20  # the rate is far below what any kind of hand can take


def hands_of(game: str) -> list[Panel]:
    """Return the hands of all players after each move of a deal."""
    panels = []
    for table, _seat in tables_of(game):
        for viewer in range(GAMES[game].seats):
            table_snapshot = take_snapshot(table, viewer)
            scene = hand_scene(table_snapshot, "en", "italian", "classic")
            panels.append(
                with_picture(
                    hand_panel(table_snapshot, "en", "italian", ""),
                    scene,
                    "en",
                    live=Live("⏱ 5 min", 300, 1_800_000_000),
                )
            )
    return panels


def photo_body(panel: Panel) -> Body:
    assert panel.picture
    assert isinstance(panel.picture.subject, Scene)
    png, caption = paint(panel.picture.subject), panel.beside_picture
    entities = text_entities.entities_of(caption, folds=True)
    photo = Photo(WHERE, panel.picture, caption.plain, entities or None, keyboard.markup_of(panel, "bot"))
    return upload_body(photo.edit_fields(None), PART, png)


def widget_body(panel: Panel) -> Body:
    state = hand_state(panel)
    assert state
    return json_body({**WHERE, "chat_data": state})


def measure(make: Callable[[Panel], Body], panels: list[Panel]) -> tuple[float, float]:
    """Return the median bytes of a request and the mean CPU for it, in milliseconds."""
    make(panels[0])
    start = time.process_time()
    sizes = [len(make(panel).content) for panel in panels]
    return median(sizes), 1000 * (time.process_time() - start) / len(panels)


async def measure_panels(kind: str) -> None:
    """Measure presses until the edited panel, over the whole bot. ``kind`` is of the hands."""
    make = make_adapter if kind == "text" else make_picture_adapter
    async with start_server(SERVER) as server:
        settings = settings_for(server, telegram_widgets=kind == "widget")
        async with start_bot(settings, make):
            await server.open_tables(1, PRESS_TABLES + 1)
            await server.wait_until_ready(PRESS_TABLES)
            await server.wait_until_settled()
            await measure_presses(server, f"{kind:<6}", PRESSES, PRESS_RATE)


def run() -> None:
    """Compare hands: bytes and CPU of the request after a move, and the time from a press to the edited panel."""
    html = hand_document()
    typer.echo(f"the document, sent once a hand: {len(html.encode())} bytes, {compressed_size(html)} compressed\n")
    typer.echo(f"{'a hand after a move':<16}{'photo':>12}{'widget':>12}{'ratio':>8}{'photo':>12}{'widget':>12}")
    ratios = []
    for game in GAMES:
        panels = hands_of(game)
        photo_bytes, photo_cpu = measure(photo_body, panels)
        widget_bytes, widget_cpu = measure(widget_body, panels)
        ratios.append(photo_bytes / widget_bytes)
        typer.echo(
            f"{game:<16}{photo_bytes / UNITS:>9.1f} kB{widget_bytes / UNITS:>9.2f} kB{ratios[-1]:>8.0f}"
            f"{photo_cpu:>9.2f} ms{widget_cpu:>9.2f} ms"
        )
    typer.echo(f"\na photo has {mean(ratios):.0f} times the bytes of a widget's data")
    typer.echo("\nthe whole bot, from a press to the presser's edited panel:")
    logs.set_up("warning")
    tune_garbage_collector()
    for kind in ("widget", "photo", "text"):
        asyncio.run(measure_panels(kind))
