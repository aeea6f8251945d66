"""What texts without a slash mean in the private chat, and the answer to those that mean nothing."""

import pytest

from bot.command_names import HINT, STANDING
from bot.parsing.plain_text import HELP, UNCLEAR, read_plain_text
from bot.robots.pool import RobotPool
from bot.store import Store
from bot.words.wording import JOINER
from bot.worker import Worker
from engine import View
from engine.robots.verdicts import Hint
from tests.bot.fake_platform import FakePlatform, Player, open_worker, seat_players
from tests.bot.test_hints import wait_for_turn

STANDING_COMMAND = (STANDING, ())


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Mi arrendo!", ("resign", ())),
        ("help", ("help", ())),
        ("le mie carte", ("hand", ())),
        ("La classifica", ("leaderboard", ())),
        ("the leaderboard, please", ("leaderboard", ())),
        ("l’analisi", ("analyse", ())),
        ("quanto siamo?", STANDING_COMMAND),
        ("A quanto stiamo?", STANDING_COMMAND),
        ("punti", STANDING_COMMAND),
        ("il punteggio", STANDING_COMMAND),
        ("score?", STANDING_COMMAND),
        ("What’s the score?", STANDING_COMMAND),
        ("whose turn is it", STANDING_COMMAND),
        ("Regole metà mazzo", ("rules", ("metamazzo",))),
        ("le regole del tressette in quattro", ("rules", ("tressette",))),
        ("rules spades", ("rules", ("spades",))),
        ("rules fair", ("rules", ("fair",))),
        ("play spades", ("challenge", ("spades",))),
        ("spizzichino", ("challenge", ("spizzichino",))),
        ("meta mazzo", ("challenge", ("metamazzo",))),
        ("Spades!", ("challenge", ("spades",))),
        ("spades rules", ("rules", ("spades",))),
        ("regole spades", ("rules", ("spades",))),
        ("rules of pizzichino", ("rules", ("pizzichino",))),
        ("Testa a Testa: come si gioca?", ("rules", ("testa",))),
        ("how do you play spades?", ("rules", ("spades",))),
        ("join K7QF2M", ("join", ("K7QF2M",))),
        ("Join the table k7qf2m, please", ("join", ("K7QF2M",))),
        ("entra K7QF2M", ("join", ("K7QF2M",))),
        ("mi arrendo K7QF2M", ("resign", ("K7QF2M",))),
        ("join friends", (STANDING, (UNCLEAR,))),
        ("I resign, thanks", (STANDING, (UNCLEAR,))),
        ("resign pretty", (STANDING, (UNCLEAR,))),
        ("resign PRETTY", ("resign", ("PRETTY",))),
        ("challenge robot", ("challenge", ("robot", "easy"))),
        ("sfida il robot forte", ("challenge", ("robot", "strong"))),
        ("Gioca contro un robot", ("challenge", ("robot", "easy"))),
        ("play spades with the strong robot", ("challenge", ("robot", "strong", "spades"))),
        ("challenge my robot vacuum", (STANDING, (UNCLEAR,))),
        ("Hint?", (HINT, ())),
        ("what now?", (HINT, ())),
        ("What can I do", (HINT, ())),
        ("Un consiglio!", (HINT, ())),
        ("suggerimento", (HINT, ())),
        ("E ora?", (HINT, ())),
        ("che faccio?", (HINT, ())),
        ("help me!", (HINT, (HELP,))),
        ("Aiuto", (HINT, (HELP,))),
        ("find fair", (STANDING, (UNCLEAR,))),
        ("forget spades", (STANDING, (UNCLEAR,))),
        ("help me with the third trick", (STANDING, (UNCLEAR,))),
        ("t", (STANDING, (UNCLEAR,))),
        ("?!", (STANDING, (UNCLEAR,))),
        ("", (STANDING, (UNCLEAR,))),
    ],
)
def test_whole_text_means_a_command(text: str, meant: tuple[str, tuple[str, ...]]) -> None:
    assert read_plain_text(text) == meant


async def say(player: Player, text: str) -> str:
    """Send the command that a text without a slash means in the private chat, and return the answer."""
    meant = read_plain_text(text)
    reply = await player.say(" ".join((f"/{meant.word}", *meant.words)), player.private)
    return reply.panel.plain if reply.panel else reply.toast


async def start_game(worker: Worker, fake: FakePlatform, language: str) -> Player:
    player = Player(worker, fake, "Anna", 1, language)
    await player.say("/start", player.private)
    await worker.challenges.open_practice("metamazzo", player.person.id, "Anna", "easy", "game")
    await worker.wait_until_idle()
    return player


@pytest.mark.parametrize(
    ("language", "question", "score", "points", "nonsense"),
    [
        ("en", "score?", "Metà Mazzo: it’s 0–0 and your turn.", "This deal: you ", "I didn’t understand."),
        ("it", "quanto siamo?", "Metà Mazzo: siamo 0–0, tocca a te.", "In questa smazzata: tu ", "Non ho capito."),
    ],
)
async def test_unclear_text_gets_the_score_and_turn(
    store: Store, language: str, question: str, score: str, points: str, nonsense: str
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_game(worker, fake, language)
        await wait_for_turn(worker, anna)
        answer = await say(anna, question)
        assert answer.startswith(f"{score}\n{points}")
        assert await say(anna, "blah blah") == f"{nonsense}\n{answer}"
        labels = [button.label for row in fake.last(anna.private).rows for button in row]
        assert labels in (
            ["▶ My hand", "Rules", "💡 Hint", "Resign", "Help"],
            ["▶ Le mie carte", "Regole", "💡 Consiglio", "Mi arrendo", "Aiuto"],
        )
        await anna.press(labels[3])
        assert fake.last(anna.private).plain.startswith(("Do you really want to resign?", "Vuoi davvero"))


@pytest.mark.parametrize("text", ["hint", "what now?", "aiuto"])
async def test_hint_comes_on_the_hand(store: Store, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    async def hint(_pool: RobotPool, view: View, _history: object) -> Hint:
        return Hint(next(move for move in view.moves if move.startswith("play ")), "only")

    monkeypatch.setattr(RobotPool, "hint", hint)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_game(worker, fake, "en")
        await wait_for_turn(worker, anna)
        await say(anna, "blah blah")
        assert "💡 Play " not in fake.last(anna.private).plain
        if text == "hint":
            await anna.press("💡 Hint")
        else:
            await say(anna, text)
        assert "\n💡 Play the " in fake.last(anna.private).plain


async def test_against_people_the_possible_moves_are_named(worker: Worker, fake: FakePlatform) -> None:
    players = await seat_players(worker, fake, "metamazzo")
    mover, other = sorted(players, key=lambda player: not player.moves())
    cards = [button.label for _message, button in mover.moves() if not button.label.startswith("📣")]
    answer = (await say(mover, "hint")).replace(JOINER, "")
    assert "and your turn.\nYou can " in answer
    assert f"\nYou can play: {' '.join(cards)}\nHints are only for games against robots." in answer
    labels = [button.label for row in fake.last(mover.private).rows for button in row]
    assert labels == ["▶ My hand", "Rules", "Resign", "Help"]
    answer = await say(other, "e ora?")
    assert "’s turn." in answer
    assert "You can" not in answer


async def test_without_a_game_help_me_gets_the_help(worker: Worker, fake: FakePlatform) -> None:
    anna = Player(worker, fake, "Anna", 1)
    assert "/challenge" in await say(anna, "help me")
    assert (await say(anna, "what now?")).startswith("Hi! I deal Tressette and Spades.")


async def test_without_a_game_unclear_text_gets_a_greeting(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        assert (await say(anna, "blah blah")).startswith("Hi! I deal Tressette and Spades.")
        assert await say(anna, "score") == "You have no game running: start one with /challenge."
