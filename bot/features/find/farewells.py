"""Phrases to strangers after a game."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from bot.actions import BadPayload
from bot.delivery.answer_queue import AnswerQueue
from bot.features.find import keys
from bot.features.find.errors import SaidFarewell
from bot.features.find.pages import phrase_panel
from bot.features.find.shared_game import find_shared_game
from bot.finished.archive import Archive
from bot.people import People, Profile
from bot.platform import Adapter, Press, Reply, platform_of, private_place
from bot.tables.blocks import Blocks
from bot.tables.table_state import FAREWELLS
from bot.words.phrases import phrase_text

FAREWELL_KEPT_SECONDS = 86400  # how long the store knows that a player has said a phrase


class Farewells:
    """Sends one phrase of each player after a game. A crash can lose a phrase."""

    def __init__(
        self,
        client: Any,
        archive: Archive,
        blocks: Blocks,
        people: People,
        adapters: Mapping[str, Adapter],
        answers: AnswerQueue,
    ) -> None:
        self._client, self._archive, self._blocks = client, archive, blocks
        self._people, self._adapters, self._answers = people, adapters, answers

    async def answer(self, _press: Press, profile: Profile, words: list[str]) -> Reply:
        """Send a phrase to the other players. Silently skip those with a block, and those who muted phrases."""
        if len(words) != 2 or words[1] not in FAREWELLS:
            raise BadPayload()
        game_id, phrase = words
        shared_game = await find_shared_game(self._archive, profile, game_id)
        key, own_name = keys.farewell(game_id, shared_game.seat), shared_game.chairs[shared_game.seat].name
        if not await self._client.set(key, 1, nx=True, ex=FAREWELL_KEPT_SECONDS):
            raise SaidFarewell()
        people_with_block = await self._blocks.apart_from(profile.id, {chair.person for chair in shared_game.chairs})
        for other in shared_game.chairs:
            place, adapter = private_place(other.person), self._adapters.get(platform_of(other.person))
            if other.person == profile.id or adapter is None or other.person in people_with_block:
                continue
            reader = await self._people.person(other.person)
            if reader.wants_phrases:
                panel = phrase_panel(reader.language, own_name, phrase, game_id, shared_game.seat)
                send = partial(adapter.send, place, panel, f"{key} {other.person}", silent=True)
                self._answers.send(place, send)
        return Reply(f"💬 {phrase_text(profile.language, phrase)}")
