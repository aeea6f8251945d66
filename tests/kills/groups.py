"""The messages that groups should contain, according to the store alone."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from bot.delivery.message_state import MessageState
from bot.delivery.surface_names import Hand
from bot.delivery.surface_panels import draw_surface
from bot.delivery.surfaces import required_surfaces
from bot.delivery.table_sync import NO_EXTRAS
from bot.finished.game import FinishedGame
from bot.panel_picture import Subject
from bot.people import People
from bot.pictures.results import deal_sheet, game_sheet
from bot.platform import is_inline, is_private
from bot.store import Store, keys
from bot.tables.table import Table
from bot.viewers import Viewer
from engine.robots.verdicts import Summary, Verdict, summarize


class ExpectedMessage(NamedTuple):
    """A message about a table.

    ``text`` is empty if it is unknown. The message must show one of the ``subjects``, or no picture if there are none.
    """

    code: str
    text: str
    subjects: Sequence[Subject]


async def expected_messages(
    store: Store, tables: Sequence[Table], games: Sequence[FinishedGame]
) -> list[ExpectedMessage]:
    """Return the messages about live tables, and the pictures of finished games."""
    people = People(store.client)
    expected: list[ExpectedMessage] = []
    for table in tables:
        if table.phase != "playing":
            continue
        for name in required_surfaces(table):
            if isinstance(name, Hand) or is_inline(place := table.hosts[name.host]):
                continue
            chat = await people.chat(place)
            viewer = Viewer(chat.language, deck=chat.deck if chat.wants_pictures else None, group=chat.name)
            panel = draw_surface(table, name, MessageState(), viewer, NO_EXTRAS, None)
            expected.append(ExpectedMessage(table.code, panel.plain, [panel.picture.subject] if panel.picture else []))
    for game in games:
        summaries = await _read_summaries(store, game)
        for place in game.chats:
            if is_inline(place) or is_private(place):
                continue
            for language, group in await _read_languages_and_names(store, place):
                context = (game.record.seats, language)
                expected += [
                    ExpectedMessage(game.code, "", [deal_sheet(game.record, number, game.code, *context, group=group)])
                    for number in range(1, len(game.record.deals) + 1)
                ]
                # The accuracy is added later if there was time to analyse the game.
                sheets = [
                    game_sheet(
                        game.record, game.code, *context, ended=game.ended, summaries=known_summaries, group=group
                    )
                    for known_summaries in ([], summaries)
                ]
                expected.append(ExpectedMessage(game.code, "", sheets))
    return expected


async def _read_languages_and_names(store: Store, chat: str) -> set[tuple[str, str]]:
    """Return the language and name of a chat and of each of its topics.

    A finished game does not name its topic.
    """
    key, people = keys.chat(chat), People(store.client)
    topics = [place.decode() async for place in store.client.scan_iter(f"{key}/*")]
    profiles = [await people.chat(place.removeprefix(key[: -len(chat)])) for place in (key, *topics)]
    return {(profile.language, profile.name) for profile in profiles}


async def _read_summaries(store: Store, game: FinishedGame) -> list[Summary]:
    analysis = await store.client.get(keys.analysis(game.id))
    if not analysis:
        return []
    verdicts = [Verdict(*fields) for fields in json.loads(analysis)]
    return [summarize(verdicts, seat) for seat in range(len(game.record.seats))]
