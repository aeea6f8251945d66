"""Each command has one description, from which help, menus, slash commands and hints are made."""

import re

import pytest

from adapters.web.playground.server import command_hints
from bot import command_names
from bot.command_names import (
    COMMANDS,
    Argument,
    ArgumentKind,
    Availability,
    CommandSpec,
    HelpGroup,
    closest_command,
    find_command_spec,
    read_command,
)
from bot.command_words import COMMON_WORDS, OTHER_WORDS
from bot.handlers import Dispatcher
from bot.panels.help import help_page, safety_page
from bot.platform import Command, Reply
from bot.store import Store
from bot.texts import LANGUAGES, texts
from bot.version import VERSION
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.discord.players import on_discord
from tests.discord.server import DiscordServer
from tests.paths import DOCS
from tests.telegram.players import on_telegram, until
from tests.telegram.server import TelegramServer

POEM = CommandSpec(
    "poem",
    {"it": "poesia"},
    "recite a poem",
    arguments=(Argument("game", {"it": "gioco"}, ArgumentKind.GAME, "game", "Which game", required=True),),
    availability=Availability.GROUP,
)


@pytest.fixture
def poem_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a command to the list of all commands."""
    monkeypatch.setattr(command_names, "COMMANDS", (*COMMANDS, POEM))
    monkeypatch.setattr(command_names, "OTHER_WORDS", {**OTHER_WORDS, "poem": ("verse",)})


@pytest.mark.usefixtures("poem_command")
def test_new_command_is_in_help() -> None:
    assert "/poem game: recite a poem" in help_page("en", is_full=True).plain.splitlines()
    assert "/poesia gioco: recite a poem" in help_page("it", is_full=True).plain.splitlines()


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_has_three_headings_and_ten_commands(language: str) -> None:
    help_lines = help_page(language).plain.splitlines()
    assert sum(line.startswith("/") for line in help_lines) == 10
    headings = [line for line in help_lines if line and not line.startswith("/")]
    assert headings == [texts(language).gettext(group) for group in HelpGroup]


async def test_help_leads_to_all_commands_and_back(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/help", anna.private)
        assert "/mydata" not in fake.last(anna.private).plain
        await anna.press("All commands")
        assert fake.last(anna.private).plain.splitlines()[-1] == f"Buongioco {VERSION}"
        assert all(f"/{spec.name}" in fake.last(anna.private).plain for spec in COMMANDS if spec.is_listed)
        await anna.press("Play safely")
        assert fake.last(anna.private) == safety_page("en")
        await anna.press("Back")
        await anna.press("Back")
        assert fake.last(anna.private) == help_page("en")


@pytest.mark.usefixtures("poem_command")
async def test_new_command_is_in_telegram_group_menu(store: Store) -> None:
    server = TelegramServer()
    await server.start()
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
    await server.stop()
    for language, word in (("", "poem"), ("it", "poesia")):
        assert word in [command["command"] for command in server.menus[f"all_group_chats {language}"]]
        assert word not in [command["command"] for command in server.menus[f"all_private_chats {language}"]]


@pytest.mark.usefixtures("poem_command")
async def test_new_command_is_a_discord_slash_command(store: Store) -> None:
    server = DiscordServer()
    await server.start()
    async with on_discord(store, server):
        [poem] = [command for command in server.commands if command["name"] == "poem"]
    await server.stop()
    assert poem["description"] == "Recite a poem"
    assert poem["name_localizations"] == {"it": "poesia"}
    assert poem["contexts"] == [0, 2]  # servers and private channels
    [game] = poem["options"]
    assert (game["name"], game["name_localizations"], game["required"]) == ("game", {"it": "gioco"}, True)
    assert "metamazzo" in [choice["value"] for choice in game["choices"]]


@pytest.mark.usefixtures("poem_command")
def test_new_command_is_in_playground_hints() -> None:
    [hint] = [hint for hint in command_hints("it") if hint["word"] == "poesia"]
    assert hint["about"] == "gioco: recite a poem"
    assert "metamazzo" in hint["takes"]


@pytest.mark.usefixtures("poem_command")
async def test_other_words_work_only_in_allowed_chats(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def recite(command: Command, profile: object) -> Reply:
        return Reply(toast=f"{command.words[0]}, a poem")

    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        monkeypatch.setitem(anna.dispatcher._handlers, "poem", recite)
        for word in ("poem", "poesia", "verse"):
            assert (await anna.say(f"/{word} testa")).toast == "testa, a poem"
        refusal = await anna.say("/verse testa", anna.private)
        assert refusal.toast == "/verse only works in groups: write it in one."
        monkeypatch.setattr(command_names, "COMMANDS", (CommandSpec("poem", availability=Availability.PRIVATE),))
        assert (await anna.say("/poem testa", anna.private)).toast == "testa, a poem"
        assert (await anna.say("/poem testa", GROUP)).toast == "/poem only works in our private chat: write it there."


async def test_commands_have_handlers_and_names_in_all_languages(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        handled = set(Dispatcher(worker)._handlers)
        assert handled == {spec.name for spec in COMMANDS}, "COMMANDS and the dispatcher's handlers differ"
    for spec in COMMANDS:
        if spec.is_listed:
            assert {"en", *spec.names} == set(LANGUAGES), f"/{spec.name} needs a name in each language"
    assert OTHER_WORDS.keys() | COMMON_WORDS.keys() <= {spec.name for spec in COMMANDS}
    words = [word for spec in COMMANDS for word in (*spec.words, *COMMON_WORDS.get(spec.name, ()))]
    assert len(set(words)) == len(words), f"names used twice: {sorted(word for word in words if words.count(word) > 1)}"
    assert all(find_command_spec(word) for word in words)
    assert find_command_spec("nonsense") is None
    assert find_command_spec("oggi") is find_command_spec("today") is find_command_spec("daily")


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("arrenditi", "resign", ()),
        ("mi arrendo K7QF2M", "resign", ("K7QF2M",)),
        ("mi_arrendo", "resign", ()),
        ("come si gioca", "rules", ()),
        ("gioca spades 300", "challenge", ("spades", "300")),
        ("le mie carte", "hand", ()),
        ("trova avversario", "find", ()),
        ("smazzata del giorno", "daily", ()),
    ],
)
def test_natural_words_mean_a_command(text: str, name: str, arguments: tuple[str, ...]) -> None:
    word, *words = text.split()
    spec, remaining = read_command(word, words)
    assert spec is find_command_spec(name)
    assert remaining == arguments


def test_words_understood_with_spaces_are_longer_than_commands() -> None:
    for spec in COMMANDS:
        for word in spec.words:
            for cut in range(1, len(word)):
                assert read_command(word[:cut], (word[cut:],)) == (spec, ()), f"{word[:cut]} {word[cut:]}"


def test_words_of_other_bots_need_our_name() -> None:
    assert find_command_spec("play", is_for_us=False) is None
    assert find_command_spec("score", is_for_us=False) is None
    assert find_command_spec("arrenditi", is_for_us=False) is find_command_spec("resign")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        *(("resing", "resign"), ("arenditi", "resign"), ("regle", "rules"), ("sifda", "challenge")),
        *(("leader", "leaderboard"), ("sblocca", "block"), ("giocca", "challenge")),
    ],
)
def test_misspelt_word_is_near_its_command(word: str, name: str) -> None:
    assert closest_command(word, in_private=False) is find_command_spec(name)


@pytest.mark.parametrize("word", ["nonsense", "stop", "a", "tressette", "domino"])
def test_foreign_word_is_near_no_command(word: str) -> None:
    assert closest_command(word, in_private=False) is None


def test_players_page_lists_all_commands() -> None:
    page = (DOCS / "players.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `/(.+?)` \| `/(\w+)` \|", page, re.MULTILINE)
    specs = [spec for spec in COMMANDS if spec.is_listed]
    listed = [(" ".join([spec.name, *map(_argument_text, spec.arguments)]), spec.names["it"]) for spec in specs]
    assert sorted(rows) == sorted(listed), "update the table of commands in docs/players.md"


def _argument_text(argument: Argument) -> str:
    return argument.placeholder if argument.required else f"[{argument.placeholder}]"
