"""The commands of the bot, each described once.

`COMMANDS` is the source of the help, Telegram's menus, Discord's slash commands and the playground's hints. The
handlers are in `bot.handlers` and in the features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from itertools import takewhile

from bot.command_words import COMMON_WORDS, MAX_PARTS, OTHER_WORDS, closest_word, plain_word
from bot.texts import gettext_noop as _
from bot.texts import texts
from engine import GAMES
from engine.games import default_game

FIRST_GAME = default_game("page")  # id of the game that pages suggest first
FAIR = "fair"  # argument of /rules for the page on fair shuffles
FAIR_WORDS = (FAIR, "onesto")  # accepted in every language
STANDING = "score"  # command that answers with the score and whose turn it is
HINT = "hint"  # command that gives a hint, or answers with what the person can do now
FOR_US_ONLY = (STANDING, HINT)  # commands that other bots can have too


class Availability(Enum):
    """The chats in which a command is available."""

    ANYWHERE = "anywhere"
    GROUP = "group"
    PRIVATE = "private"

    def includes(self, *, private: bool) -> bool:
        return self is Availability.ANYWHERE or (self is Availability.PRIVATE) == private


class ArgumentKind(Enum):
    """The meaning of an argument. It decides which choices platforms offer."""

    PERSON = "a person, by @ and handle"
    GAME = "a game's id"
    TOPIC = "a game's id, or FAIR"
    POINTS = "the points that win the game"
    NAME = "any name"
    OPEN_TABLE = "the code of a table that waits for players"
    OWN_TABLE = "the code of a table where this person plays"


@dataclass(frozen=True)
class Argument:
    """An argument of a command.

    ``name`` is its English name, and ``names`` are those in other languages, as Discord shows them. Help lines show its
    ``placeholder``.
    """

    name: str
    names: Mapping[str, str]
    kind: ArgumentKind
    placeholder: str
    description: str
    required: bool = False
    in_help: bool = True


class HelpGroup(StrEnum):
    """The heading of a command in help."""

    PLAY = _("Play")
    COMPETE = _("Compete")
    YOU = _("You")


@dataclass(frozen=True)
class CommandSpec:
    """A command.

    ``name`` is its English name and its id, ``names`` are those in other languages. All of them work everywhere, and so
    do the words of `bot.command_words`. ``help`` is a short description in lower case; ``title`` replaces it in lists
    without arguments.
    ``is_private``: the answer is for the person alone. ``shows_table``: the command brings a table into its chat.
    ``has_form``: without arguments, it opens a form where the platform can show one.
    ``in_user_menu``: it can be chosen from the menu of a user. ``is_listed``: help and menus show it. ``is_main``: the
    first page of help shows it, under the heading ``group``.
    """

    name: str
    names: Mapping[str, str] = field(default_factory=dict)
    help: str = ""
    title: str = ""
    arguments: tuple[Argument, ...] = ()
    availability: Availability = Availability.ANYWHERE
    group: HelpGroup = HelpGroup.PLAY
    is_private: bool = False
    shows_table: bool = False
    has_form: bool = False
    in_user_menu: bool = False
    is_listed: bool = True
    is_main: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return (self.name, *self.names.values(), *OTHER_WORDS.get(self.name, ()))

    def name_in(self, language: str) -> str:
        return self.names.get(language, self.name)

    def help_line(self, language: str) -> str:
        """Return the command's arguments and description: "[@name] [game]: open a table"."""
        gettext = texts(language).gettext
        signs = []
        for argument in self.arguments:
            if argument.in_help:
                placeholder = gettext(argument.placeholder)
                signs.append(placeholder if argument.required else f"[{placeholder}]")
        return ": ".join(filter(None, [" ".join(signs), gettext(self.help)]))

    def title_in(self, language: str) -> str:
        """Return the command's description with a capital: "Open a table"."""
        text = texts(language).gettext(self.title or self.help)
        return text[:1].upper() + text[1:]


OWN_TABLE = Argument("table", {"it": "tavolo"}, ArgumentKind.OWN_TABLE, _("CODE"), _("The table’s code"))
OPPONENT = Argument(
    "opponent", {"it": "avversario"}, ArgumentKind.PERSON, _("@name"), _("Your opponent; leave it empty for anyone")
)
GAME = Argument("game", {"it": "gioco"}, ArgumentKind.GAME, _("game"), _("Which game"))
TARGET = Argument("target", {"it": "punti"}, ArgumentKind.POINTS, _("points"), _("Points to win"), in_help=False)

COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "challenge",
        {"it": "sfida"},
        _("play a friend or a robot"),
        arguments=(OPPONENT, GAME, TARGET),
        shows_table=True,
        has_form=True,
        in_user_menu=True,
        is_main=True,
    ),
    CommandSpec("find", {"it": "cerca"}, _("find an opponent"), arguments=(GAME,), is_private=True, is_main=True),
    CommandSpec("daily", {"it": "giornaliera"}, _("play today’s deal, the same for everyone"), is_main=True),
    CommandSpec(
        "duel", {"it": "duello"}, _("play five deals with a friend, each when you like"), arguments=(OPPONENT, GAME)
    ),
    CommandSpec(
        "puzzle",
        {"it": "problema"},
        _("find the best card in a puzzle"),
        arguments=(replace(GAME, in_help=False),),
        is_main=True,
    ),
    CommandSpec(
        "hand",
        {"it": "mano"},
        _("see your cards again"),
        title=_("See your cards here, for your eyes only"),
        arguments=(replace(OWN_TABLE, in_help=False),),
        is_private=True,
    ),
    CommandSpec("tables", {"it": "tavoli"}, _("see your tables; in a group, the open ones")),
    CommandSpec(
        "join",
        {"it": "entra"},
        _("join a table by its code"),
        arguments=(
            Argument(
                "table", {"it": "tavolo"}, ArgumentKind.OPEN_TABLE, _("CODE"), _("The table’s code"), required=True
            ),
        ),
        is_private=True,
        shows_table=True,
    ),
    CommandSpec(
        "invite",
        {"it": "invita"},
        _("get an invitation to your table to pass on"),
        arguments=(replace(OWN_TABLE, in_help=False),),
        is_private=True,
    ),
    CommandSpec(
        "rules",
        {"it": "regole"},
        _("read how a game is played"),
        arguments=(Argument("about", {"it": "argomento"}, ArgumentKind.TOPIC, _("game"), _("Which game")),),
    ),
    CommandSpec("learn", {"it": "impara"}, _("learn a game in three minutes"), is_private=True, is_main=True),
    CommandSpec("analyse", {"it": "analisi"}, _("see how well you played your last game"), is_private=True),
    CommandSpec("resign", {"it": "resa"}, _("give up a game"), arguments=(OWN_TABLE,), is_private=True, is_main=True),
    CommandSpec(
        "tournament",
        {"it": "torneo"},
        _("start a tournament or see yours"),
        arguments=(GAME, TARGET),
        group=HelpGroup.COMPETE,
        shows_table=True,
        is_main=True,
    ),
    CommandSpec(
        "league",
        {"it": "campionato"},
        _("start a league: everyone plays everyone"),
        arguments=(GAME,),
        group=HelpGroup.COMPETE,
        shows_table=True,
    ),
    CommandSpec(
        "match",
        {"it": "incontro"},
        _("play another group: each member against one of theirs"),
        arguments=(
            Argument("code", {"it": "codice"}, ArgumentKind.NAME, _("CODE"), _("The other group’s code")),
            GAME,
        ),
        availability=Availability.GROUP,
        group=HelpGroup.COMPETE,
        shows_table=True,
    ),
    CommandSpec(
        "leaderboard",
        {"it": "classifica"},
        _("see who is best"),
        arguments=(replace(GAME, in_help=False),),
        group=HelpGroup.COMPETE,
        is_main=True,
    ),
    CommandSpec(
        "stats",
        {"it": "statistiche"},
        _("see how someone plays"),
        arguments=(
            Argument(
                "player",
                {"it": "giocatore"},
                ArgumentKind.PERSON,
                _("@name"),
                _("A player; leave it empty for your own games"),
            ),
        ),
        group=HelpGroup.COMPETE,
    ),
    CommandSpec("honours", {"it": "albo"}, _("see monthly champions and records"), group=HelpGroup.COMPETE),
    CommandSpec(
        "settings", {"it": "impostazioni"}, _("choose language, suits and pictures"), group=HelpGroup.YOU, is_main=True
    ),
    CommandSpec(
        "nickname",
        {"it": "soprannome"},
        _("choose the name that strangers see"),
        arguments=(Argument("name", {"it": "nome"}, ArgumentKind.NAME, _("name"), _("2 to 16 letters")),),
        group=HelpGroup.YOU,
        is_private=True,
    ),
    CommandSpec(
        "block",
        {"it": "blocca"},
        _("block a player, or see your blocks"),
        arguments=(Argument("player", {"it": "giocatore"}, ArgumentKind.PERSON, _("@name"), _("The player to block")),),
        availability=Availability.PRIVATE,
        group=HelpGroup.YOU,
        is_private=True,
    ),
    CommandSpec("mydata", {"it": "mieidati"}, _("get all your data as a file"), group=HelpGroup.YOU, is_private=True),
    CommandSpec(
        "forget", {"it": "dimenticami"}, _("delete all your data; I ask first"), group=HelpGroup.YOU, is_private=True
    ),
    CommandSpec("help", {"it": "aiuto"}, _("see what I can do"), group=HelpGroup.YOU, is_main=True),
    # /settings leads to this page too, but Telegram requires the command of each bot.
    CommandSpec("privacy", is_private=True, is_listed=False),
    # Platforms send this command when the private chat is opened.
    CommandSpec("start", is_listed=False),
    # The private chat understands words for it, such as "score?", and answers other texts in the same way.
    CommandSpec(STANDING, {"it": "punteggio"}, availability=Availability.PRIVATE, is_private=True, is_listed=False),
    # It understands "what now?" and similar questions, too.
    CommandSpec(HINT, {"it": "consiglio"}, availability=Availability.PRIVATE, is_private=True, is_listed=False),
)


def find_command_spec(word: str, *, is_for_us: bool = True) -> CommandSpec | None:
    """Return the command with this word. ``is_for_us`` is False in a group if the message does not name the bot."""
    plain = plain_word(word)
    for spec in COMMANDS:
        own_words = spec.words if is_for_us or spec.name not in FOR_US_ONLY else ()
        if plain in own_words or (is_for_us and plain in COMMON_WORDS.get(spec.name, ())):
            return spec
    return None


def read_command(word: str, following_words: Sequence[str] = ()) -> tuple[CommandSpec | None, tuple[str, ...]]:
    """Return the command with the longest name, and the words after it. A name can have spaces: "mi arrendo"."""
    parts = (word, *takewhile(plain_word, following_words))
    for count in range(min(MAX_PARTS, len(parts)), 0, -1):
        if spec := find_command_spec("".join(parts[:count])):
            return spec, tuple(following_words[count - 1 :])
    return None, tuple(following_words)


def closest_command(word: str, *, in_private: bool) -> CommandSpec | None:
    """Return the command that a misspelt word probably means."""
    comparable = [spec for spec in COMMANDS if in_private or spec.name not in FOR_US_ONLY]
    words = {known_word: spec for spec in comparable for known_word in (*spec.words, *COMMON_WORDS.get(spec.name, ()))}
    return words.get(closest_word(word, words))


def listed_commands(*, private: bool | None = None) -> list[CommandSpec]:
    """Return the listed commands: all, or those for private chats, or those for groups."""
    return [
        spec for spec in COMMANDS if spec.is_listed and (private is None or spec.availability.includes(private=private))
    ]


def choices_of(kind: ArgumentKind) -> dict[str, str]:
    """Return the possible values of an argument with their English names; empty if there is no fixed list of them."""
    if kind not in (ArgumentKind.GAME, ArgumentKind.TOPIC):
        return {}
    games = {game.id: game.name for game in GAMES.values()}
    return {**games, FAIR: _("Fair shuffles")} if kind is ArgumentKind.TOPIC else games
