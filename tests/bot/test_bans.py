"""A banned person is refused everywhere, and leaves tables, searches and tournaments."""

import pytest
from structlog.testing import capture_logs

from bot.bans import BY_THE_BOT
from bot.features.find.feature import FindFeature
from bot.features.privacy.feature import PrivacyFeature
from bot.handlers import Dispatcher
from bot.identity.pseudonyms import forgetting_marks
from bot.platform import Command, Person, private_place
from bot.settings import Settings
from bot.store import Store
from bot.tables.errors import Banned
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, create_players, open_worker, seat_players
from tests.bot.features.privacy.traces import dump_store
from tests.bot.features.tournaments.test_commands import Group

SENTENCE = "You’re banned from this bot: ask @host."


async def ban(worker: Worker, person: Person, *, until: int = 0) -> None:
    """Ban a person, and let this worker enforce it."""
    levers = worker.store.levers
    levers.contact = "@host"
    await levers.ban(person.id, "root", until, "insults")
    await worker.bans.work()
    await worker.wait_until_idle()


async def test_every_request_of_banned_person_is_refused(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        await bruno.say("/challenge testa")
        await anna.say("/start", anna.private)
        await ban(worker, anna.person)
        for text, place in (
            ("/challenge", GROUP),
            ("/challenge robot", anna.private),
            ("/find testa", anna.private),
            ("/daily", anna.private),
            ("/puzzle", anna.private),
            ("/tournament", GROUP),
            ("/help", anna.private),
            ("/nonsense", anna.private),
        ):
            reply = await anna.say(text, place)
            assert (reply.toast, reply.panel) == (SENTENCE, None), text
        assert (await anna.press("Join", GROUP)).toast == SENTENCE
        dispatcher = Dispatcher(worker)
        offers = await dispatcher.offers(anna.person, "")
        assert (offers.offers, offers.start) == ([], "You’re banned: open our chat")
        assert (await dispatcher.offers(bruno.person, "")).offers
        opened = await dispatcher.lobby.open_table(anna.person, "testa", "easy", "web:1")
        assert opened == ("", SENTENCE)
        assert dispatcher.lobby.ban_text(anna.person.id, "en") == SENTENCE
        assert not await worker.room.lists.tables_of(anna.person.id)


async def test_banned_person_can_still_manage_their_data(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = create_players(worker, fake)[0]
        await ban(worker, anna.person)
        assert (await anna.say("/privacy", anna.private)).panel
        file = (await anna.say("/mydata", anna.private)).file
        assert file
        assert b'"ban": {"since": ' in file.content
        assert b"insults" not in file.content
        assert (await anna.say("/forget", anna.private)).panel
        assert not (await anna.press("Yes, forget me")).toast


async def test_running_game_of_banned_person_is_resigned(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        with capture_logs() as logs:
            await ban(worker, anna.person)
        assert "resigned" in fake.last(GROUP).plain
        [game] = [game async for game in worker.archive.games()]
        assert (game.record.ending, game.record.winner) == ("resign", [1])
        assert [line["tables"] for line in logs if line["event"] == "ban_enforced"] == [1]
        assert not any(anna.person.id in str(line) for line in logs)
        assert not await worker.room.lists.tables_of(bruno.person.id)


async def test_challenge_and_search_of_banned_person_end(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        await anna.say("/challenge testa")
        await anna.say("/find metamazzo", anna.private)
        queue = worker.feature(FindFeature).finder.queue
        assert await queue.count() == 1
        await ban(worker, anna.person)
        assert await queue.count() == 0
        assert "withdrawn" in fake.last(GROUP).plain
        await bruno.say("/challenge testa @anna")
        assert await worker.bans.remove(anna.person.id) == 1
        assert "declined" in fake.last(GROUP).plain


async def test_ban_keeps_blocks_by_and_of_the_person(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        blocks = worker.feature(FindFeature).finder.queue.blocks
        anna, bruno = Person("web:1", "Anna", "en"), Person("web:2", "Bruno", "en")
        await blocks.add(bruno.id, anna.id, "Anna")
        await blocks.add(anna.id, bruno.id, "Bruno")
        await ban(worker, anna)
        assert [len(await blocks.blocks_of(person.id)) for person in (anna, bruno)] == [1, 1]


async def test_banned_player_is_withdrawn_from_tournaments(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        group = Group(worker, fake)
        _anna, bruno, carla, *_ = (player.person for player in group.people)
        tournament = await group.open_tournament("/tournament testa", entering=3)
        assert tournament.player_of(bruno.id) is not None
        await ban(worker, bruno)
        tournament = await group.tournaments.load(tournament.code)
        assert tournament.player_of(bruno.id) is None
        assert tournament.player_of(carla.id) is not None
        await ban(worker, group.people[0].person)
        assert (await group.tournaments.load(tournament.code)).phase == "cancelled"


async def test_ban_ends_at_its_time(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = create_players(worker, fake)[0]
        levers = worker.store.levers
        levers.now = lambda: 1_800_000_000.0
        await ban(worker, anna.person, until=1_800_000_060)
        assert (await anna.say("/challenge")).toast == "You’re banned from this bot until 15/01/2027: ask @host."
        levers.now = lambda: 1_800_000_060.0
        assert not (await anna.say("/challenge")).toast
        await worker.bans.work()
        await levers.refresh()
        assert levers.bans == {}
        assert [(pull.by, pull.lever) for pull in await levers.pulls()] == [("root", "ban"), (BY_THE_BOT, "unban")]


async def test_refusal_without_contact_names_the_host(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        carla = Player(worker, fake, "Carla", 3, "it")
        await worker.store.levers.ban(carla.person.id, "root")
        await worker.store.levers.refresh()
        assert (await carla.say("/aiuto")).toast == "Non puoi più usare questo bot: chiedi a chi lo gestisce."


async def test_forget_keeps_only_what_the_ban_needs(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Zenobia", 1234567)
        await anna.say("/start", anna.private)
        await ban(worker, anna.person)
    # The loops of a running worker would forget the person, too.
    forgetter = Worker(store, Settings(_env_file=None)).feature(PrivacyFeature).forgetter
    await forgetter.forget(anna.person.id, await forgetter.begin(anna.person.id))
    await forgetter.finish(anna.person.id, (await forgetting_marks(store.client))[anna.person.id])
    async with open_worker(store, fake) as worker:
        anna.dispatcher = Dispatcher(worker)
        worker.store.levers.contact = "@host"
        texts = await dump_store(store)
        naming = {key: text for key, text in texts.items() if "1234567" in f"{key} {text}" or "enobia" in text}
        assert list(naming) == ["{levers}:levers"]
        assert "insults" not in "".join(texts.values())
        assert "somebody" not in texts["{levers}:pulls"]
        assert (await anna.dispatcher.handle_command(Command("c", anna.person, GROUP, "help", ()))).toast == SENTENCE


async def test_offer_of_banned_person_has_expired(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        [offer, *_] = (await Dispatcher(worker).offers(anna.person, "testa")).offers
        await ban(worker, anna.person)
        reply = await bruno.send(offer.panel.rows[0][0].payload, "paper:~inline/1")
        assert reply.toast == "This challenge has expired: send a new one."
        assert await worker.room.lists.tables_at(private_place(bruno.person.id)) == []


async def test_code_of_resigned_table_stays_closed_to_banned_person(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        await bruno.say("/challenge testa")
        code = await code_of(worker, bruno)
        await ban(worker, anna.person)
        with pytest.raises(Banned):
            await worker.challenges.sit(code, anna.person.id, "Anna", "late press")
