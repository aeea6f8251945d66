"""The commands that people may give, each described once.

The help, Telegram's menus, Discord's slash commands and the playground's hints are all made from `COMMANDS`; what a
command does stands in `bot.handlers.commands`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from bot.texts import gettext_noop as _
from bot.texts import texts
from engine import GAMES
from engine.games import first_game

FIRST_GAME = first_game("page")
"""The game that pages suggest first, by its id."""

FAIR = "fair"
"""What /rules takes beside a game: how a shuffle is checked."""

FAIR_WORDS = (FAIR, "onesto")
"""What people write for it, in each language."""


class Availability(Enum):
    """In which chats a command may be given."""

    ANYWHERE = "anywhere"
    GROUP = "group"
    PRIVATE = "private"

    def includes(self, *, private: bool) -> bool:
        """Whether a private chat with the bot, or else a group, is among them."""
        return self is Availability.ANYWHERE or (self is Availability.PRIVATE) == private


class ArgumentKind(Enum):
    """What an argument is: platforms that can let people choose instead of type."""

    PERSON = "somebody, by an @ and what they are called by"
    GAME = "a game's id"
    TOPIC = "a game's id, or FAIR"
    POINTS = "what the game is played to"
    NAME = "a name, freely chosen"
    OPEN_TABLE = "the code of a table that waits for players"
    OWN_TABLE = "the code of a table where this person plays"


@dataclass(frozen=True)
class Argument:
    """What may stand behind a command.

    ``name`` is its English name and ``names`` those in other languages, as Discord shows them; ``sign`` is how a line
    of help writes it, and ``about`` says what it is.
    """

    name: str
    names: Mapping[str, str]
    kind: ArgumentKind
    placeholder: str
    description: str
    required: bool = False
    in_help: bool = True


@dataclass(frozen=True)
class CommandSpec:
    """One command.

    ``name`` is what it is called by in English and inside the bot, ``names`` in other languages; all of them and the
    ``aliases`` are understood everywhere. ``help`` says in a few words what it does, beginning in lower case;
    ``title``, if there is one, says it where a list shows no arguments beside it. ``for_one`` is whether its answer
    is for that person alone, ``hosts`` whether it brings a table into the chat where it is given, ``on_person``
    whether it may be chosen from somebody's menu, and ``listed`` whether people are told of it.
    """

    name: str
    names: Mapping[str, str] = field(default_factory=dict)
    help: str = ""
    title: str = ""
    arguments: tuple[Argument, ...] = ()
    availability: Availability = Availability.ANYWHERE
    aliases: tuple[str, ...] = ()
    is_private: bool = False
    shows_table: bool = False
    in_user_menu: bool = False
    is_listed: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        """All that it may be called by."""
        return (self.name, *self.names.values(), *self.aliases)

    def name_in(self, language: str) -> str:
        """What it is called in a language."""
        return self.names.get(language, self.name)

    def help_line(self, language: str) -> str:
        """What may stand behind it and what it does: "[@name] [game]: open a table"."""
        signs = [_placeholder(one, language) for one in self.arguments if one.in_help]
        text = texts(language).gettext(self.help)
        return f"{' '.join(signs)}: {text}" if signs else text

    def title_in(self, language: str) -> str:
        """What it does, beginning with a capital: "Open a table"."""
        text = texts(language).gettext(self.title or self.help)
        return text[:1].upper() + text[1:]


def _placeholder(argument: Argument, language: str) -> str:
    sign = texts(language).gettext(argument.placeholder)
    return sign if argument.required else f"[{sign}]"


OWN_TABLE = Argument("table", {"it": "tavolo"}, ArgumentKind.OWN_TABLE, _("CODE"), _("The table's code"))
GAME = Argument("game", {"it": "gioco"}, ArgumentKind.GAME, _("game"), _("Which game"))
TARGET = Argument("target", {"it": "punti"}, ArgumentKind.POINTS, _("points"), _("Points to win"), in_help=False)

COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "challenge",
        {"it": "sfida"},
        _("open a table"),
        title=_("Open a table: for a friend, or for whoever comes"),
        arguments=(
            Argument(
                "opponent",
                {"it": "avversario"},
                ArgumentKind.PERSON,
                _("@name"),
                _("Whom you challenge; nobody, and whoever wants to may accept"),
            ),
            GAME,
            TARGET,
        ),
        shows_table=True,
        in_user_menu=True,
    ),
    CommandSpec(
        "join",
        {"it": "entra"},
        _("sit down at a table, from any chat"),
        arguments=(
            Argument(
                "table", {"it": "tavolo"}, ArgumentKind.OPEN_TABLE, _("CODE"), _("The table's code"), required=True
            ),
        ),
        is_private=True,
        shows_table=True,
    ),
    CommandSpec(
        "invite",
        {"it": "invita"},
        _("get an invitation to pass on"),
        title=_("Get an invitation to your table, to pass on in any chat"),
        arguments=(replace(OWN_TABLE, in_help=False),),
        is_private=True,
    ),
    CommandSpec(
        "hand",
        {"it": "mano"},
        _("see your cards again"),
        title=_("See your cards here, for your eyes only"),
        arguments=(replace(OWN_TABLE, in_help=False),),
        is_private=True,
    ),
    CommandSpec(
        "find",
        {"it": "cerca"},
        _("look for an opponent"),
        title=_("Look for an opponent whom you do not know"),
        arguments=(GAME,),
        is_private=True,
    ),
    CommandSpec(
        "daily",
        {"it": "giornaliera"},
        _("play the deal of the day"),
        title=_("Play the deal of the day: the same cards for everybody"),
    ),
    CommandSpec(
        "puzzle",
        {"it": "problema"},
        _("solve a puzzle: find the best card"),
        title=_("Solve an ending: which card is best?"),
    ),
    CommandSpec(
        "tournament",
        {"it": "torneo"},
        _("open a tournament, or see it"),
        title=_("Open a tournament in this group, or see those you play"),
        arguments=(GAME, TARGET),
        shows_table=True,
    ),
    CommandSpec(
        "league",
        {"it": "campionato"},
        _("open a league, or see it"),
        title=_("Open a league: everybody plays everybody, over weeks"),
        arguments=(GAME,),
        aliases=("lega",),
        shows_table=True,
    ),
    CommandSpec(
        "nickname",
        {"it": "soprannome"},
        _("choose what strangers call you"),
        arguments=(Argument("name", {"it": "nome"}, ArgumentKind.NAME, _("name"), _("2 to 16 letters")),),
        is_private=True,
    ),
    CommandSpec(
        "block",
        {"it": "blocca"},
        _("see whom you have blocked, or block somebody"),
        title=_("See whom you have blocked, or block somebody: you are not matched with them"),
        arguments=(Argument("player", {"it": "giocatore"}, ArgumentKind.PERSON, _("@name"), _("Whom you block")),),
        availability=Availability.PRIVATE,
        is_private=True,
    ),
    CommandSpec(
        "tables",
        {"it": "tavoli"},
        _("see where you sit; in a group, what is open there"),
    ),
    CommandSpec("leaderboard", {"it": "classifica"}, _("see who is best"), arguments=(replace(GAME, in_help=False),)),
    CommandSpec("honours", {"it": "albo"}, _("see the monthly champions and records")),
    CommandSpec(
        "stats",
        {"it": "statistiche"},
        _("see how somebody plays"),
        arguments=(
            Argument(
                "player",
                {"it": "giocatore"},
                ArgumentKind.PERSON,
                _("@name"),
                _("Whose games; your own if you leave it out"),
            ),
        ),
    ),
    CommandSpec("analyse", {"it": "analisi"}, _("see how well your last game was played"), is_private=True),
    CommandSpec(
        "rules",
        {"it": "regole"},
        _("read how it is played"),
        title=_("Read how a game is played"),
        arguments=(Argument("about", {"it": "argomento"}, ArgumentKind.TOPIC, _("game"), _("Which game")),),
    ),
    CommandSpec("settings", {"it": "impostazioni"}, _("choose language, suits, pictures, clock")),
    CommandSpec("resign", {"it": "resa"}, _("give a game up"), arguments=(OWN_TABLE,), is_private=True),
    CommandSpec("mydata", {"it": "mieidati"}, _("get all I keep of you, as a file"), is_private=True),
    CommandSpec("forget", {"it": "dimenticami"}, _("have me forget you; I ask first"), is_private=True),
    CommandSpec("help", {"it": "aiuto"}, _("see what the bot can do")),
    # Platforms send it when somebody opens the private chat.
    CommandSpec("start", is_listed=False),
)


def find_command_spec(word: str) -> CommandSpec | None:
    """The command that somebody means by a word, in any language."""
    return next((spec for spec in COMMANDS if word in spec.words), None)


def listed_commands(*, private: bool | None = None) -> list[CommandSpec]:
    """The commands that people are told of: all, or those that may be given in private, or those in a group."""
    return [
        spec for spec in COMMANDS if spec.is_listed and (private is None or spec.availability.includes(private=private))
    ]


def choices_of(kind: ArgumentKind) -> dict[str, str]:
    """What an argument of a kind may be, with its name in English; empty if that depends on who asks and where."""
    if kind not in (ArgumentKind.GAME, ArgumentKind.TOPIC):
        return {}
    games = {game.id: game.name for game in GAMES.values()}
    return {**games, FAIR: _("Fair shuffles")} if kind is ArgumentKind.TOPIC else games
