"""The commands of the bot, each described once.

`COMMANDS` is the source of the help, Telegram's menus, Discord's slash commands and the playground's hints. The
handlers are in `bot.handlers.commands` and in the features.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from bot.texts import gettext_noop as _
from bot.texts import texts
from engine import GAMES
from engine.games import default_game

FIRST_GAME = default_game("page")  # id of the game that pages suggest first
FAIR = "fair"  # argument of /rules for the page on fair shuffles
FAIR_WORDS = (FAIR, "onesto")  # accepted in every language


class Availability(Enum):
    """The chats in which a command is available."""

    ANYWHERE = "anywhere"
    GROUP = "group"
    PRIVATE = "private"

    def includes(self, *, private: bool) -> bool:
        return self is Availability.ANYWHERE or (self is Availability.PRIVATE) == private


class ArgumentKind(Enum):
    """The meaning of an argument. Platforms use it to offer choices."""

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


@dataclass(frozen=True)
class CommandSpec:
    """A command.

    ``name`` is its English name and its id, ``names`` are those in other languages. All of them and the ``aliases``
    work everywhere. ``help`` is a short description in lower case; ``title`` replaces it in lists without arguments.
    ``is_private``: the answer is for the person alone. ``shows_table``: the command brings a table into its chat.
    ``in_user_menu``: it can be chosen from the menu of a user. ``is_listed``: help and menus show it.
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
        return (self.name, *self.names.values(), *self.aliases)

    def name_in(self, language: str) -> str:
        return self.names.get(language, self.name)

    def help_line(self, language: str) -> str:
        """Return its arguments and description: "[@name] [game]: open a table"."""
        gettext = texts(language).gettext
        shown = [(gettext(each.placeholder), each.required) for each in self.arguments if each.in_help]
        signs = [name if is_required else f"[{name}]" for name, is_required in shown]
        return ": ".join(filter(None, [" ".join(signs), gettext(self.help)]))

    def title_in(self, language: str) -> str:
        """Return its description with a capital: "Open a table"."""
        text = texts(language).gettext(self.title or self.help)
        return text[:1].upper() + text[1:]


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
    CommandSpec("tables", {"it": "tavoli"}, _("see where you sit; in a group, what is open there")),
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
    # Sent by platforms when the private chat is opened.
    CommandSpec("start", is_listed=False),
)


def find_command_spec(word: str) -> CommandSpec | None:
    """Return the command with this name in any language, or None."""
    return next((spec for spec in COMMANDS if word in spec.words), None)


def listed_commands(*, private: bool | None = None) -> list[CommandSpec]:
    """Return the listed commands: all, or those for private chats, or those for groups."""
    return [
        spec for spec in COMMANDS if spec.is_listed and (private is None or spec.availability.includes(private=private))
    ]


def choices_of(kind: ArgumentKind) -> dict[str, str]:
    """Return the possible values of an argument with their English names; empty if they depend on the asker."""
    if kind not in (ArgumentKind.GAME, ArgumentKind.TOPIC):
        return {}
    games = {game.id: game.name for game in GAMES.values()}
    return {**games, FAIR: _("Fair shuffles")} if kind is ArgumentKind.TOPIC else games
