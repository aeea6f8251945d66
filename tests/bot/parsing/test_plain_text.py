"""What texts without a slash mean in the private chat, and the answer to those that mean nothing."""

import pytest

from bot.command_names import STANDING
from bot.parsing.plain_text import UNCLEAR, read_plain_text
from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, Player, open_worker

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
        while True:
            [table] = await worker.room.lists.tables_of(anna.person.id)
            assert table.game
            if table.game.turn == table.seat_of(anna.person.id):
                break
            await worker.wait_until_idle()
        answer = await say(anna, question)
        assert answer.startswith(f"{score}\n{points}")
        assert await say(anna, "blah blah") == f"{nonsense}\n{answer}"
        labels = [button.label for row in fake.last(anna.private).rows for button in row]
        assert labels in (["▶ My hand", "Rules", "Help"], ["▶ Le mie carte", "Regole", "Aiuto"])


async def test_without_a_game_unclear_text_gets_a_greeting(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        assert (await say(anna, "blah blah")).startswith("Hi! I deal Tressette and Spades.")
        assert await say(anna, "score") == "You have no game running: start one with /challenge."
