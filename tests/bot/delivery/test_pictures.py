"""A message's picture and text show the same state, and a text never waits for a late picture."""

import asyncio
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from bot.delivery import surface_sync, surface_waits
from bot.delivery.message_state import UNKNOWN, decode_state
from bot.delivery.surface_names import Hand
from bot.delivery.surface_sync import SurfaceSync
from bot.finished.ratings import MIN_GAMES
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.pictures import pool
from bot.pictures.lettering import drawable_text
from bot.pictures.pool import PicturePool
from bot.pictures.scene import Scene
from bot.pictures.sheet import Sheet, Words
from bot.platform import DeliveryError, NoPicture, NotDelivered, NotEditable, PlatformFailure, SentMessage
from bot.store import Store, keys
from bot.worker import Worker
from tests.bot.delivery.test_surface_sync import GatedPlatform, commit_move, surface_of
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    code_of,
    mover_of,
    open_worker,
    play_until,
    seat_players,
)
from tests.bot.finished.games import finished_game, store_game
from tests.bot.pictures.test_pool import paint_after, paint_slowly
from tests.tricks import tricks_played


class PicturePlatform(FakePlatform):
    """A fake platform with pictures. An edit cannot add or remove one."""

    shows_pictures = True

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        current = self.messages[place].get(sent.message)
        if current and (current.picture is None) != (panel.picture is None):
            raise NotEditable(sent.message)
        return await super().edit(place, sent, panel)


@pytest.fixture
def instant_painting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint pictures at once, with the subject's digest as bytes."""

    async def paint(pool: PicturePool, panel: Panel) -> Panel:
        if panel.picture is None:
            return panel
        picture = panel.picture._replace(png=panel.picture.subject.digest.encode())
        return replace(panel, picture=picture)

    monkeypatch.setattr(PicturePool, "paint_panel", paint)
    monkeypatch.setattr(PicturePool, "warm_up", lambda pool: None)


@pytest.fixture
def painting_failures(monkeypatch: pytest.MonkeyPatch, instant_painting: None) -> set[str]:
    """Reasons why no picture can be painted. Painting works while the set is empty."""
    reasons: set[str] = set()
    original = PicturePool.paint_panel

    async def paint(pool: PicturePool, panel: Panel) -> Panel:
        return await original(pool, replace(panel, picture=None) if reasons else panel)

    monkeypatch.setattr(PicturePool, "paint_panel", paint)
    return reasons


@pytest.mark.usefixtures("instant_painting")
async def test_pictures_show_the_state_in_the_text(store: Store) -> None:
    fake = PicturePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        for _ in range(6):
            mover = mover_of(players)
            await mover.press(mover.moves()[0][1].label)
            for seat, player in enumerate(players):
                panel = fake.last(player.private)
                assert panel.picture
                assert panel.picture.alt
                assert panel.picture.png == panel.picture.subject.digest.encode()
                view = (await worker.room.load_cached(code)).game.view(seat)  # type: ignore[union-attr]
                assert view.deal
                assert isinstance(panel.picture.subject, Scene)
                assert [card.code for card in panel.picture.subject.hand] == list(view.deal.hand or ())
        board = fake.last(GROUP)
        assert board.picture
        assert isinstance(board.picture.subject, Scene)
        assert not board.picture.subject.hand


@pytest.mark.usefixtures("instant_painting")
async def test_board_picture_shows_each_card_of_the_trick(store: Store) -> None:
    fake = PicturePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)
        await mover.press(mover.moves()[0][1].label)
        board = fake.last(GROUP).picture
        assert board
        assert isinstance(board.subject, Scene)
        assert len(board.subject.trick) == 1


class RefusingPlatform(PicturePlatform):
    """A fake platform that refuses pictures while `refuses_pictures` is set, and records the `picture` of edits."""

    def __init__(self) -> None:
        super().__init__()
        self.refuses_pictures = False
        self.edited_digests: list[str] = []

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        self._refuse_picture(panel)
        sent = await super().send(place, panel, key, silent=silent)
        return sent._replace(picture=_digest_of(panel))

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        self._refuse_picture(panel)
        self.edited_digests.append(sent.picture)
        assert sent.picture == _digest_of(self.messages[place][sent.message])
        return (await super().edit(place, sent, panel))._replace(picture=_digest_of(panel))

    def _refuse_picture(self, panel: Panel) -> None:
        if panel.picture and self.refuses_pictures:
            raise NoPicture("refused")


def _digest_of(panel: Panel) -> str:
    return panel.picture.subject.digest if panel.picture else ""


@pytest.mark.usefixtures("instant_painting")
async def test_text_is_shown_alone_if_its_picture_cannot_be_shown(store: Store) -> None:
    fake = RefusingPlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        assert all(fake.last(player.private).picture for player in players)
        fake.refuses_pictures = True
        mover = mover_of(players)
        await mover.press(mover.moves()[0][1].label)
        for player in players:
            assert len(fake.messages[player.private]) == 1
            assert fake.last(player.private).picture is None
            assert "On the table" in fake.last(player.private).plain
        fake.refuses_pictures = False
        mover = mover_of(players)
        await mover.press(mover.moves()[0][1].label)
        assert all(fake.last(player.private).picture for player in players)
        assert any(fake.edited_digests)


class LostEditPlatform(PicturePlatform):
    """A fake platform whose edits raise the errors that a test has set, and otherwise change nothing."""

    edits = 0

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        self.edits += 1
        self.calls.append(("edit", place, sent.message))
        if self.errors[place]:
            raise self.errors[place].pop(0)
        return sent


@pytest.mark.usefixtures("instant_painting")
@pytest.mark.parametrize(
    ("error", "edits"), [(PlatformFailure("lost"), 3), (NotDelivered("away"), 2)], ids=["lost", "away"]
)
async def test_late_upload_does_not_hide_a_later_state(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: DeliveryError, edits: int
) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.001)
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 3600.0)
    fake = LostEditPlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        surface, sync = surface_of(worker, code, Hand(0)), worker.delivery._tables[code]
        surface.mark_uncertain()
        fake.errors[players[0].private] = [error]
        fake.edits = 0
        syncing = SurfaceSync(worker.delivery._tools, worker.delivery._writer, sync, surface)
        task = asyncio.create_task(syncing.run(None, 0))
        async with asyncio.timeout(10):
            while not task.done() and fake.edits < edits:
                if fake.edits == 2 and surface._woken:
                    # Act as if the hour in which the upload can arrive had passed.
                    syncing._unsettled_until = asyncio.get_running_loop().time()
                    surface.wake()
                await asyncio.sleep(0)
            await task
        assert fake.edits == edits


@pytest.mark.usefixtures("instant_painting")
async def test_adapter_picture_data_survives_a_restart(store: Store) -> None:
    fake = RefusingPlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
    fake.edited_digests.clear()
    async with open_worker(store, fake) as worker:
        await play_until(
            worker,
            [Player(worker, fake, player.person.name, number) for number, player in enumerate(players, 1)],
            Random(1),
            lambda: len(fake.edited_digests) > 2,
        )


@pytest.mark.usefixtures("instant_painting")
async def test_platform_without_pictures_gets_none(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        await play_until(worker, players, Random(1), lambda: tricks_played(fake.last(GROUP).plain) >= 3)
        assert not any(panel.picture for messages in fake.messages.values() for panel in messages.values())


async def test_text_with_a_failed_picture_replaces_the_old_picture(store: Store, painting_failures: set[str]) -> None:
    fake = PicturePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, players[0])
        mover = mover_of(players)
        before = set(fake.messages[mover.private])
        painting_failures.add("the painter is ill")
        await mover.press(mover.moves()[0][1].label)
        [message] = fake.messages[mover.private]
        assert message not in before, "a picture cannot become a text, so a new message must replace it"
        assert fake.last(mover.private).picture is None
        assert "On the table" in fake.last(mover.private).plain
        assert not surface_of(worker, code, Hand(players.index(mover))).message_state.outdated
        painting_failures.clear()
        other = next(player for player in players if player is not mover)
        await other.press(other.moves()[0][1].label)
        assert len(fake.messages[mover.private]) == 1
        assert fake.last(mover.private).picture


@pytest.mark.usefixtures("instant_painting")
async def test_people_and_chats_choose_pictures_and_card_style(store: Store) -> None:
    fake = PicturePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")

        def last_hand(player: Player) -> Panel:
            return next(panel for panel in reversed(fake.messages[player.private].values()) if "deal 1" in panel.plain)

        await anna.say("/settings", place=anna.private)
        await anna.press("Cards with large signs")
        hand = last_hand(anna).picture
        assert hand
        assert hand.subject.deck.style == "easy"
        await anna.press("Pictures")
        assert last_hand(anna).picture is None
        assert last_hand(bruno).picture
        assert fake.last(GROUP).picture
        await bruno.say("/settings")
        await bruno.press("Pictures", GROUP)
        assert not any(panel.picture for panel in fake.messages[GROUP].values())
        assert last_hand(bruno).picture
        await anna.press("Pictures")
        assert last_hand(anna).picture


async def test_picture_settings_are_hidden_without_pictures(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        for place in (anna.private, GROUP):
            await anna.say("/settings", place=place)
            labels = [button.label for row in fake.last(place).rows for button in row]
            assert not any("Pictures" in label or "Cards" in label for label in labels)


async def test_late_picture_follows_its_text(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
    fake, permission = FakePlatform(), tmp_path / "permission"
    have_pictures: list[bool] = []
    original = fake.edit

    async def edit(place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        have_pictures.append(panel.picture is not None)
        return await original(place, sent, panel)

    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        mover = mover_of((anna, bruno))
        monkeypatch.setattr(worker.picture_pool, "_paint", partial(paint_after, permission))
        monkeypatch.setattr(fake, "edit", edit)
        fake.shows_pictures = True
        await mover.press(mover.moves()[0][1].label, settle=False)
        async with asyncio.timeout(60):
            while len(have_pictures) < 2:
                await asyncio.sleep(0.01)
        permission.touch()
        await worker.wait_until_idle()
        assert all(fake.last(place).picture for place in (anna.private, bruno.private, GROUP))
        assert have_pictures[:2] == [False, False]
        assert have_pictures.count(True) == 3
        assert len(fake.messages[anna.private]) == 1


@pytest.mark.usefixtures("instant_painting")
async def test_late_picture_is_recorded_before_its_text_is_sent(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that is killed after it sent the text could not record the picture.

    Only late pictures are recorded beforehand.
    """
    fake, painting_allowed, edits = FakePlatform(), asyncio.Event(), list[tuple[bool, bool]]()
    fake.shows_pictures = True
    painting_allowed.set()
    paint_panel, edit = PicturePool.paint_panel, fake.edit

    async def paint_unless_late(pool: PicturePool, panel: Panel) -> Panel:
        return await paint_panel(pool, panel) if painting_allowed.is_set() else replace(panel, picture=None)

    async def wait_until_allowed(_pool: PicturePool, _scene: Subject, woken: asyncio.Event) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (painting_allowed, woken)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()

    monkeypatch.setattr(PicturePool, "paint_panel", paint_unless_late)
    monkeypatch.setattr(PicturePool, "is_painting", lambda _pool, _scene: not painting_allowed.is_set())
    monkeypatch.setattr(PicturePool, "wait_until_done", wait_until_allowed)
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        mover = mover_of((anna, bruno))
        [table] = await worker.room.lists.tables_of(anna.person.id)
        hand = "h0" if mover is anna else "h1"

        async def record_edit(place: str, sent: SentMessage, panel: Panel) -> SentMessage:
            if place == mover.private:
                is_pending = decode_state((await store.load_shown(table.code))[hand]).digest == UNKNOWN
                edits.append((panel.picture is not None, is_pending))
            return await edit(place, sent, panel)

        monkeypatch.setattr(fake, "edit", record_edit)
        painting_allowed.clear()
        await mover.press(mover.moves()[0][1].label, settle=False)
        async with asyncio.timeout(10):
            while not edits or fake.last(mover.private).picture:
                await asyncio.sleep(0)
        assert list(await store.changed_tables(range(keys.SHARDS))) == [table.code]
        painting_allowed.set()
        await worker.wait_until_idle()
        assert fake.last(mover.private).picture

        # At the second edit the store might already say that the text is shown alone.
        assert edits[0] == (False, True)
        assert [has_picture for has_picture, _ in edits] == [False, True]
        assert not await store.changed_tables(range(keys.SHARDS))

        # With a picture in time, the message is edited first and saved afterwards.
        other = anna if mover is bruno else bruno
        await other.press(other.moves()[0][1].label)
        assert edits[2:] == [(True, False)]


async def test_late_picture_does_not_delay_the_next_state(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        monkeypatch.setattr(worker.picture_pool, "_paint", paint_never)
        fake.shows_pictures = True
        mover, other = sorted((anna, bruno), key=lambda player: not player.moves())
        await mover.press(mover.moves()[0][1].label, settle=False)
        async with asyncio.timeout(30):
            while not other.moves():
                await asyncio.sleep(0.01)
        card = next(button.label for _message, button in other.moves() if " " not in button.label)
        await other.press(card, settle=False)
        async with asyncio.timeout(30):
            while "Previous trick" not in fake.last(other.private).plain:
                await asyncio.sleep(0.01)


async def test_text_sent_without_its_picture_does_not_delay_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
    fake = GatedPlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)
        monkeypatch.setattr(worker.picture_pool, "_paint", paint_never)
        fake.shows_pictures = True
        mover, other = sorted((anna, bruno), key=lambda player: not player.moves())
        gate = fake.gates[mover.private] = asyncio.Event()
        await mover.press(mover.moves()[0][1].label, settle=False)
        await fake.wait_until(lambda: mover.private in fake.waiting)
        await commit_move(worker, code)
        async with asyncio.timeout(30):
            while "Previous trick" not in fake.last(other.private).plain:
                await asyncio.sleep(0.01)
        gate.set()
        async with asyncio.timeout(30):
            while "Previous trick" not in fake.last(mover.private).plain:
                await asyncio.sleep(0.01)


async def test_picture_late_at_shutdown_follows_after_restart(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)
    fake = FakePlatform()
    fake.shows_pictures = True
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "pizzichino")
        mover = next(player for player in players if "take four packets" in fake.last(player.private).plain)
        assert fake.last(mover.private).picture
        assert not await store.changed_tables(range(keys.SHARDS))
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
        monkeypatch.setattr(worker.picture_pool, "_paint", paint_never)
        await mover.press("3", settle=False)
        async with asyncio.timeout(30):
            while fake.last(mover.private).picture or not await store.changed_tables(range(keys.SHARDS)):
                await asyncio.sleep(0.01)
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 60)
    async with open_worker(store, fake) as worker:
        await worker.wait_until_idle()
        assert fake.last(mover.private).picture
        assert "✓ 3" in [button.label for row in fake.last(mover.private).rows for button in row]
        assert not await store.changed_tables(range(keys.SHARDS))


async def test_old_picture_is_removed_while_the_new_one_is_late(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = PicturePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover = mover_of(players)
        [before] = fake.messages[mover.private]
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
        monkeypatch.setattr(worker.picture_pool, "_paint", paint_never)
        await mover.press(mover.moves()[0][1].label, settle=False)
        async with asyncio.timeout(30):
            while before in fake.messages[mover.private]:
                await asyncio.sleep(0.01)
        assert fake.last(mover.private).picture is None
        assert "On the table" in fake.last(mover.private).plain


def paint_never(scene: Scene) -> bytes:
    """Paint for longer than any test lasts."""
    time.sleep(300)
    return b""


@pytest.mark.usefixtures("instant_painting")
async def test_result_pictures_do_not_depend_on_the_viewer(store: Store) -> None:
    platform = PicturePlatform()
    async with open_worker(store, platform) as worker:
        players = await seat_players(worker, platform, "testa")
        await play_until(worker, players, Random(1), lambda: " beats " in platform.last(GROUP).plain)
        panels = list(platform.messages[GROUP].values())
        assert len([panel for panel in panels if panel.picture and isinstance(panel.picture.subject, Sheet)]) > 1
        result = platform.last(GROUP).picture
        assert result
        assert isinstance(result.subject, Sheet)
        assert result.subject.title == "Testa a Testa"
        assert "you" not in str(result.subject)
        for words in [part.text for part in result.subject.parts if isinstance(part, Words)]:
            assert drawable_text(words) in drawable_text(platform.last(GROUP).plain)


@pytest.mark.usefixtures("instant_painting")
@pytest.mark.parametrize("command", ["/stats", "/leaderboard testa", "/rules testa"])
async def test_pages_have_pictures_unless_turned_off(store: Store, command: str) -> None:
    platform = PicturePlatform()
    async with open_worker(store, platform) as worker:
        players = await seat_players(worker, platform, "testa")
        await store_rated_games(worker, players)
        reply = await players[0].say(command)
        assert reply.panel
        assert reply.panel.picture
        assert reply.panel.picture.png == reply.panel.picture.subject.digest.encode()
        await worker.people.update_chat(GROUP, pictures="0")
        reply = await players[0].say(command)
        assert reply.panel
        assert reply.panel.picture is None


@pytest.mark.usefixtures("instant_painting")
async def test_pages_have_no_pictures_if_the_platform_shows_none(store: Store) -> None:
    platform = FakePlatform()
    async with open_worker(store, platform) as worker:
        players = await seat_players(worker, platform, "testa")
        reply = await players[0].say("/rules testa")
        assert reply.panel
        assert reply.panel.picture is None


async def store_rated_games(worker: Worker, players: list[Player]) -> None:
    """Store enough games between these people to rank them."""
    people = [player.person.id for player in players]
    for number in range(MIN_GAMES):
        await store_game(worker.store, replace(finished_game(number), people=people, chats=[GROUP]))
    await worker.ratings.catch_up()


async def test_late_picture_does_not_ring_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:

    class AddOnlyPlatform(FakePlatform):
        shows_pictures = True

        async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
            current = self.messages[place].get(sent.message)
            if current and current.picture and not panel.picture:
                raise NotEditable(sent.message)
            return await super().edit(place, sent, panel)

    fake = AddOnlyPlatform()
    async with open_worker(store, fake) as worker:
        monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 0.01)
        monkeypatch.setattr(worker.picture_pool, "_paint", paint_slowly)
        players = await seat_players(worker, fake, "metamazzo")
        for _ in range(2):
            mover = mover_of(players)
            rings_before = fake.ring_counts.copy()
            await mover.press(mover.moves()[0][1].label)
            for player in players:
                assert len(fake.messages[player.private]) == 1
                assert fake.last(player.private).picture
                assert fake.ring_counts[player.private] == rings_before[player.private], (
                    "a late picture must not ring the player again"
                )
        assert {fake.ring_counts[player.private] for player in players} == {1}
