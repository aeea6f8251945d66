"""Tournaments run through commands and buttons."""

from collections.abc import AsyncIterator
from random import Random

import pytest

from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.pages import player_panel
from bot.features.tournaments.tournament import DAY, Tournament
from bot.store import Store, keys
from bot.tables.game_choice import Choice
from bot.tables.snapshot import isolate_name
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.tournaments.field import team_name

NAMES = ("Anna", "Bruno", "Carla", "Dino", "Emma", "Furio")


class Group:
    """A group of people who open, enter and play tournaments."""

    def __init__(self, worker: Worker, fake: FakePlatform) -> None:
        self.worker, self.fake = worker, fake
        self.tournaments = worker.feature(TournamentsFeature).director.tournaments
        self.people = [Player(worker, fake, name, number) for number, name in enumerate(NAMES, 1)]

    async def settle(self) -> None:
        """Wait until the director has acted and every message is sent."""
        for _ in range(3):
            await self.worker.feature(TournamentsFeature).director.check_all()
            await self.worker.delivery.answers.tasks.wait()
            await self.worker.wait_until_idle()

    @property
    def card_text(self) -> str:
        return self.plain_text(GROUP)

    def plain_text(self, place: str) -> str:
        return self.fake.last(place).plain.replace("\u2068", "").replace("\u2069", "")

    def labels(self, place: str = GROUP) -> list[str]:
        return [
            button.label.replace("\u2068", "").replace("\u2069", "")
            for row in self.fake.last(place).rows
            for button in row
        ]

    async def open_tournament(self, text: str = "/tournament metamazzo 21", entering: int = 0) -> Tournament:
        """Let Anna open a tournament, and others enter until it has this many people. Anna has entered."""
        assert (await self.people[0].say(text)).private
        await self.settle()
        for player in self.people[1:entering]:
            await player.press("Sign up", GROUP)
        await self.settle()
        return await self.newest_tournament()

    async def newest_tournament(self) -> Tournament:
        """Return Anna's newest tournament."""
        return (await self.tournaments.of_person(self.people[0].person.id))[0]

    def show_page(self, reader: Player, tournament: Tournament, person: str) -> None:
        """Show a reader a person's page of a tournament, which can be out of date."""
        self.fake.messages[reader.private]["9"] = player_panel("en", person, tournament, None)

    async def choose(self, *labels: str) -> None:
        """Let Anna choose options by their buttons."""
        await self.people[0].press("Options")
        for label in labels:
            await self.people[0].press(label)
        await self.people[0].press("Done")
        await self.people[0].press("◀ Back")
        await self.settle()

    async def play_until(self, expected: str) -> None:
        """Press random move buttons until the group reads this text."""
        random = Random(1)
        for _ in range(3000):
            if any(expected in text for text in self.fake.texts(GROUP)):
                return
            has_moved = False
            for player in self.people:
                for message, panel in list(self.fake.messages[player.private].items()):
                    moves = [
                        button
                        for row in panel.rows
                        for button in row
                        if button.payload.startswith("1m") and "play" in button.payload
                    ]
                    if moves:
                        await player.send(random.choice(moves).payload, player.private, message)
                        has_moved = True
                        break
                await self.worker.wait_until_idle()
            if not has_moved:
                await self.settle()
        raise AssertionError(f"nobody read {expected!r}")


@pytest.fixture
async def group(store: Store) -> AsyncIterator[Group]:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        yield Group(worker, fake)


async def test_whole_tournament_runs_by_buttons(group: Group) -> None:
    await group.open_tournament()
    assert group.card_text.startswith("🏆 Knock-out · Metà Mazzo\nOrganised by Anna\nTo 21 points")
    for player in group.people[1:4]:
        assert (await player.press("Sign up", GROUP)).toast.startswith("You’re in.")
    await group.settle()
    assert "4 players:\nAnna, Bruno, Carla, Dino" in group.card_text

    await group.people[0].press("Start")
    await group.settle()
    assert "Round 1 of 2 · 24 h left" in group.card_text
    assert "My match" in group.labels()
    for player in group.people[:4]:
        assert any("Your turn" in text or "’s turn" in text for text in group.fake.texts(player.private))

    await group.play_until(" has won!")
    await group.settle()
    tournament = await group.newest_tournament()
    assert tournament.phase == "over"
    final = tournament.match(2, 0)
    assert final.winner is not None
    assert any(
        f"{team_name(tournament, final.winner)} has won!" in text.replace("\u2068", "").replace("\u2069", "")
        for text in group.fake.texts(GROUP)
    )
    assert any(
        "All results" in [button.label for row in panel.rows for button in row]
        for panel in group.fake.messages[GROUP].values()
    )
    own_page = await group.people[0].say("/tournament", group.people[0].private)
    assert own_page.panel
    assert "Your place: " in own_page.panel.plain


async def test_only_the_organiser_changes_starts_or_cancels(group: Group) -> None:
    tournament = await group.open_tournament(entering=2)
    group.show_page(group.people[1], tournament, group.people[0].person.id)
    for label in ("Start", "Options", "Call off"):
        reply = await group.people[1].press(label)
        assert reply.toast == "Only the organiser can do that: ask Anna."
        assert reply.panel is None
    for choice in ("set form swiss", "game testa", "rule target=31", "clock 60", "off yes"):
        reply = await group.people[1].send(f"1ptournament {tournament.code} {choice}", group.people[1].private, "9")
        assert reply.panel is None
    assert (await group.newest_tournament()).version == tournament.version


async def test_card_shows_options_chosen_in_private(group: Group) -> None:
    await group.open_tournament(entering=1)
    await group.choose(
        "Form", "duplicate", "Deals a match", "4", "Scoring", "steps", "Rounds", "5", "Time a round", "3 days"
    )
    assert "🏆 Duplicate · Metà Mazzo" in group.card_text
    assert "4 deals a match, in steps · 5 minutes a move\nOne round every 3 days · 5 rounds" in group.card_text
    await group.choose(
        "Form", "Swiss", "Game", "Pizzichino", "Points to win", "31", "Packets", "peeked at", "Clock", "1 day"
    )
    assert "🏆 Swiss · Pizzichino" in group.card_text
    assert "To 31 points · 1 day a move" in group.card_text
    assert "Packets: peeked at" in group.card_text
    assert (await group.newest_tournament()).choice.strict


async def test_made_up_option_payload_changes_nothing(group: Group) -> None:
    tournament = await group.open_tournament(entering=1)
    anna = group.people[0]
    message, _button = anna.button("Options")
    for choice in (
        "set form chess",
        "set nothing 1",
        "game chess",
        "rule target=7",
        "rule seats=2",
        "clock 7",
        "with x",
        "results x",
        "table 1",
        "xyz",
        "",
    ):
        reply = await anna.send(f"1ptournament {tournament.code} {choice}", anna.private, message)
        assert reply.toast == "This button has expired: use the latest message.", choice
    assert (await group.newest_tournament()).version == tournament.version


async def test_entering_without_a_private_chat_links_to_it(group: Group) -> None:
    await group.open_tournament()
    reply = await group.people[1].press("Sign up", GROUP)
    assert (reply.start_word, reply.has_private_chat) == ("tournament", False)
    assert "Open our private chat" in reply.toast
    reply = await group.people[1].say("/start tournament", group.people[1].private)
    assert reply.panel
    assert "Not started yet · 2 players" in reply.panel.plain
    await group.people[1].press("Leave")
    assert (await group.people[1].press("Sign up", GROUP)).toast == "You’re in."


async def test_entering_on_a_group_page_links_to_private_chat(group: Group) -> None:
    tournament = await group.open_tournament()
    bruno = group.people[1]
    # On Discord a page opened from the card is an ephemeral message for its reader.
    group.fake.messages[bruno.aside]["9"] = player_panel("en", bruno.person.id, tournament, None)
    reply = await bruno.press("Sign up", bruno.aside)
    assert "Open our private chat" in reply.toast
    assert reply.start_word == "tournament"
    assert "Leave" in group.labels(bruno.aside)
    await bruno.say("/tournament", bruno.private)
    await bruno.press("Leave", bruno.aside)
    assert (await bruno.press("Sign up", bruno.aside)).toast == "You’re in."


async def test_no_tournament_opens_in_a_chat_without_the_bot(group: Group) -> None:
    anna, guest = group.people[0], "paper:guest7"
    for text in ("/tournament", "/league testa"):
        assert (await anna.say(text, guest)).toast.startswith("Add me to this chat first")
    await group.open_tournament()
    reply = await anna.say("/tournament")
    assert reply.panel
    group.fake.messages[guest]["9"] = reply.panel
    assert (await anna.press("Open another tournament", guest)).toast.startswith("Add me to this chat first")
    assert len(await group.tournaments.of_person(anna.person.id)) == 1


async def test_second_join_shows_the_page_and_second_leave_is_refused(group: Group) -> None:
    tournament = await group.open_tournament()
    anna = group.people[0]
    await anna.say("/start", anna.private)
    reply = await anna.press("Sign up", GROUP)
    assert (reply.toast, reply.private) == ("You’re in.", True)
    assert (await group.newest_tournament()).version == tournament.version
    for _ in range(2):
        group.show_page(anna, tournament, anna.person.id)
        reply = await anna.press("Leave")
    assert reply.toast == "You’re not in this tournament: only its players can do that."
    await group.settle()
    assert "No players yet." in group.card_text


async def test_partner_buttons_form_pairs(group: Group) -> None:
    await group.open_tournament("/tournament tressette")
    anna, bruno, carla, dino, emma, furio = group.people
    for player in (bruno, carla, emma):
        await player.press("Sign up", GROUP)
        await player.say("/tournament", player.private)
    assert group.labels() == ["Sign up"]
    await bruno.press(f"With {isolate_name('Anna')}")
    assert not any(label.startswith("With ") for label in group.labels(bruno.private))
    await emma.press(f"With {isolate_name('Carla')}")
    await group.settle()
    assert "4 players:\nAnna + Bruno, Carla + Emma" in group.card_text

    await dino.press("Sign up", GROUP)
    await group.settle()
    assert "Looking for a partner: Dino" in group.card_text
    tournament = await group.newest_tournament()
    for player in (anna, furio):
        group.show_page(player, tournament, furio.person.id)
    reply = await anna.press(f"With {isolate_name('Dino')}")
    assert reply.toast == "One of you already has a partner: choose someone else."
    await dino.say("/tournament", dino.private)
    await dino.press("Leave")
    reply = await furio.press(f"With {isolate_name('Dino')}")
    assert reply.toast == "This player isn’t in the tournament: choose someone else."
    assert (await group.newest_tournament()).player_of(furio.person.id) is None


async def test_command_reposts_the_card_and_offers_another(group: Group) -> None:
    tournament = await group.open_tournament(entering=2)
    before = group.people[0].button("Sign up", GROUP)[0]
    reply = await group.people[3].say("/tournament")
    await group.settle()
    assert reply.panel
    assert reply.panel.plain == "Knock-out · Metà Mazzo is already open here."
    assert group.card_text.startswith("🏆 Knock-out")
    assert before not in group.fake.messages[GROUP]
    await group.people[3].press("Open another tournament", GROUP)
    await group.settle()
    assert "Organised by Dino" in group.card_text
    reply = await group.people[3].say("/tournament")
    assert reply.panel
    assert len(reply.panel.rows) == 3
    await group.people[3].press(f"🏆 Knock-out · Metà Mazzo · {isolate_name('Anna')}", GROUP)
    await group.settle()
    assert "Organised by Anna" in group.card_text
    assert {listed.code for listed in await group.tournaments.in_chat(GROUP)} > {tournament.code}


async def test_league_opens_next_to_a_tournament_for_two_weeks(group: Group) -> None:
    await group.open_tournament()
    await group.open_tournament("/league testa")
    [tournament] = [listed for listed in await group.tournaments.in_chat(GROUP) if listed.form == "league"]
    assert (tournament.form, tournament.time, tournament.game, tournament.choice.clock) == (
        "league",
        14 * DAY,
        "testa",
        DAY,
    )
    assert "14 days for all matches" in group.card_text
    reply = await group.people[1].say("/lega")
    assert reply.panel
    assert "League · Testa a Testa is already open here" in reply.panel.plain.replace("\u2068", "")


async def test_my_match_sends_the_hand_or_the_players_page(group: Group) -> None:
    await group.open_tournament(entering=4)
    await group.people[0].press("Start")
    await group.settle()
    anna, outsider = group.people[0], group.people[5]
    await anna.say("/start", anna.private)
    count = len(group.fake.messages[anna.private])
    reply = await anna.press("My match", GROUP)
    assert "on their way to our private chat" in reply.toast
    assert reply.start_word in {table.code for table in await group.worker.room.lists.tables_of(anna.person.id)}
    assert len(group.fake.messages[anna.private]) == count
    assert "deal 1" in group.plain_text(anna.private)
    reply = await group.people[1].press("My match", GROUP)
    assert reply.toast == "Open our private chat: your hand comes there."
    assert reply.start_word
    reply = await outsider.press("My match", GROUP)
    assert reply.private
    assert "Round 1 of 2" in group.plain_text(outsider.private)


async def test_pages_are_private_and_keep_the_card(group: Group) -> None:
    await group.open_tournament(entering=4)
    await group.people[0].press("Start")
    await group.settle()
    card = group.card_text
    for label in ("How it works", "All results"):
        reply = await group.people[1].press(label, GROUP)
        assert reply.private
        assert reply.panel
    assert group.card_text == card
    assert "Call off" not in group.labels(group.people[1].private)
    await group.people[0].press("How it works", GROUP)
    topics = ["Pairings", "A match", "Time and no-shows", "If you withdraw", "Ties"]
    assert group.labels(group.people[0].private) == [*topics, "◀ Back"]
    for topic in topics:
        await group.people[0].press(topic)
        assert group.labels(group.people[0].private) == ["◀ Back"]
        await group.people[0].press("◀ Back")
    await group.people[0].press("◀ Back")
    assert group.labels(group.people[0].private)[-1] == "Call off"


async def test_calling_off_and_withdrawing_need_confirmation(group: Group) -> None:
    await group.open_tournament(entering=4)
    anna, bruno = group.people[:2]
    await anna.press("Call off")
    assert group.labels(anna.private) == ["Call it off", "No"]
    await anna.press("No")
    assert (await group.newest_tournament()).phase == "open"
    await anna.press("Start")
    await group.settle()
    await bruno.say("/tournament", bruno.private)
    await bruno.press("Withdraw")
    assert (await group.newest_tournament()).withdrawn == frozenset()
    await bruno.press("Withdraw")
    tournament = await group.newest_tournament()
    assert tournament.withdrawn == {
        tournament.players.index(next(player for player in tournament.players if player and player.name == "Bruno"))
    }
    await anna.press("Call off")
    await anna.press("Call it off")
    await group.settle()
    assert (await group.newest_tournament()).phase == "cancelled"
    assert await group.tournaments.in_chat(GROUP) == []
    assert "Anna’s tournament was called off." in group.card_text


async def test_old_leave_button_asks_after_the_start(group: Group) -> None:
    await group.open_tournament(entering=3)
    bruno, carla = group.people[1:3]
    await carla.say("/tournament", carla.private)
    await carla.press("Leave")
    assert group.labels(carla.private) == ["How it works", "Sign up"]
    assert len((await group.newest_tournament()).entered_players) == 2
    await carla.press("Sign up")
    assert group.labels(carla.private) == ["How it works", "Leave"]
    await bruno.say("/tournament", bruno.private)
    await group.people[0].press("Start")
    await group.settle()
    reply = await bruno.press("Leave")
    assert (await group.newest_tournament()).withdrawn == frozenset()
    assert reply.panel
    assert [button.label for row in reply.panel.rows for button in row] == ["Withdraw", "No"]
    await bruno.press("Withdraw")
    assert len((await group.newest_tournament()).withdrawn) == 1


async def test_own_tournaments_are_paged(group: Group) -> None:
    anna, choice = group.people[0], Choice.default("testa")
    registration = group.worker.feature(TournamentsFeature).registration
    for number in range(12):
        organiser, place = f"paper:{900 + number}", f"{GROUP}{number}"
        tournament = await registration.open(place, organiser, "Zoe", choice, "knockout", f"open {number}")
        await registration.enter(tournament.code, anna.person.id, "Anna", f"enter {number}")
    reply = await anna.say("/tournament", anna.private)
    assert reply.panel
    assert len(reply.panel.rows) == 11
    await anna.press("▶")
    assert group.labels(anna.private)[-1] == "◀"
    assert group.plain_text(anna.private).count("🏆") == 2
    await anna.press("◀")
    assert group.plain_text(anna.private).count("🏆") == 10


async def test_results_link_to_replays(group: Group) -> None:
    await group.open_tournament(entering=2)
    await group.people[0].press("Start")
    await group.settle()
    await group.play_until(" has won!")
    await group.settle()
    archive, client = group.worker.archive, group.worker.store.client
    [game] = [game.id async for game in archive.games()]
    # Both have played many games since then.
    for number in range(1000, 1050):
        await client.zadd(keys.GAMES_ORDER, {f"QQQQQQ-{number}": number})
        for player in group.people[:2]:
            await client.sadd(keys.games_of(player.person.id), number)
    reply = await group.people[1].press("All results", GROUP)
    assert reply.panel
    assert "Final" in reply.panel.plain
    await group.people[1].press("▶ ")
    assert "Metà Mazzo" in group.plain_text(group.people[1].private)
    assert "deal 1" in group.plain_text(group.people[1].private).lower()
    await client.zrem(keys.GAMES_ORDER, game)
    reply = await group.people[1].press("All results", GROUP)
    assert reply.panel
    assert reply.panel.plain.splitlines()[1] == "Final"
    assert [button.label for row in reply.panel.rows for button in row] == ["◀ Back"], (
        "a game outside the store must have no replay button"
    )


async def test_private_command_says_tournaments_open_in_groups(group: Group) -> None:
    reply = await group.people[0].say("/tournament testa 31", group.people[0].private)
    assert reply.panel
    assert reply.panel.plain.endswith("None yet. In a group, /tournament opens one, and /league opens a league.")


async def test_impossible_target_is_refused(group: Group) -> None:
    reply = await group.people[0].say("/tournament testa 1000")
    assert reply.toast == "You can’t play Testa a Testa to 1000: choose one of 11, 21, 31."
    assert await group.tournaments.in_chat(GROUP) == []


@pytest.mark.parametrize(
    ("text", "form", "game"),
    [
        ("/tournament duplicate", "duplicate", "metamazzo"),
        ("/tournament swiss spades", "swiss", "spades"),
        ("/tournament round robin testa 31", "roundrobin", "testa"),
        ("/torneo testa girone all'italiana", "roundrobin", "testa"),
        ("/torneo svizzero", "swiss", "metamazzo"),
        ("/tournament league", "league", "metamazzo"),
    ],
)
async def test_command_accepts_a_form_and_a_game(group: Group, text: str, form: str, game: str) -> None:
    tournament = await group.open_tournament(text)
    assert (tournament.form, tournament.game) == (form, game)
    assert tournament.choice.clock == (DAY if form == "league" else 300)


async def test_switch_to_league_takes_its_clock_unless_chosen(group: Group) -> None:
    await group.open_tournament()
    await group.choose("Form", "league")
    tournament = await group.newest_tournament()
    assert (tournament.time, tournament.choice.clock) == (14 * DAY, DAY)
    await group.choose("Form", "knock-out", "Clock", "30 min", "Form", "league")
    assert (await group.newest_tournament()).choice.clock == 1800


async def test_switch_from_league_restores_defaults_unless_chosen(group: Group) -> None:
    await group.open_tournament()
    await group.choose("Form", "league", "Form", "Swiss")
    tournament = await group.newest_tournament()
    assert (tournament.form, tournament.time, tournament.choice.clock) == ("swiss", DAY, 300)
    await group.choose("Form", "league", "Time for all matches", "7 days", "Clock", "30 min", "Form", "knock-out")
    tournament = await group.newest_tournament()
    assert (tournament.form, tournament.time, tournament.choice.clock) == ("knockout", 7 * DAY, 1800)
    await group.choose("Clock", "1 day", "Form", "Swiss")
    assert (await group.newest_tournament()).choice.clock == DAY, "switching between other forms keeps the clock"


async def test_organiser_starts_from_their_own_page(group: Group) -> None:
    await group.open_tournament(entering=1)
    anna, bruno = group.people[:2]
    await anna.say("/tournament", anna.private)
    assert "◀ All my tournaments" not in group.labels(anna.private)
    assert (await anna.press("Start")).toast == "It takes 2 players to start (so far: 1): wait for more."
    await bruno.press("Sign up", GROUP)
    await anna.press("Start")
    assert (await group.newest_tournament()).phase == "playing"
    assert group.labels(anna.private)[-1] == "Call off"
    await group.open_tournament("/league")
    await anna.press("◀ All my tournaments")
    assert any(text.startswith("Your tournaments") for text in group.fake.texts(anna.private))


async def test_too_few_pairs_are_counted_as_pairs(group: Group) -> None:
    await group.open_tournament("/tournament tressette", entering=3)
    assert (await group.people[0].press("Start")).toast == "It takes 2 pairs to start (so far: 1): wait for more."


async def test_tournament_uses_current_names(group: Group) -> None:
    await group.open_tournament(entering=4)
    assert "Anna, Bruno, Carla, Dino" in group.card_text
    for player, name in zip(group.people, ("Anita", "Marco", "🤖 Marco"), strict=False):
        player.person = player.person._replace(name=name)
        await player.say("/help", player.private)
    await group.settle()
    assert "Anita, Marco, Marco 2, Dino" in group.card_text
    assert "Anna" not in group.card_text
    group.show_page(group.people[3], await group.newest_tournament(), group.people[0].person.id)
    reply = await group.people[3].press("Start")
    assert "Anita" in reply.toast
    await group.people[0].press("Start")
    await group.settle()
    names = set()
    for player in group.people[:4]:
        for table in await group.worker.room.lists.tables_of(player.person.id):
            names |= {chair.name for chair in table.chairs if chair}
    assert {"Anita", "Marco", "Dino"} <= names <= {"Anita", "Marco", "Marco 2", "Dino"}
