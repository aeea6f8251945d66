"""Pages: panels that belong to no table. A press on a page shows another one in its place."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot import actions
from bot.commands import listed
from bot.finished.archive import FinishedGame
from bot.finished.ratings import EVERYTHING, LEAST_GAMES, Standing
from bot.panel import Button, Panel, Row, Span, Writer
from bot.panels.phrases import game_names, options_in_words, short_clock
from bot.panels.snapshot import isolated
from bot.people import HANDS, SUITS, ChatProfile, Profile
from bot.tables.table import CLOCKS
from bot.texts import LANGUAGES, texts
from bot.transcript import story
from bot.wording import Wording
from engine import GAMES

LANGUAGE_NAMES = {"en": "English", "it": "Italiano"}
MEDALS = {1: "🥇", 2: "🥈", 3: "🥉"}


@dataclass(frozen=True)
class Ranked:
    """A line of a leaderboard."""

    rank: int | None
    name: str
    standing: Standing
    is_viewer: bool


def leaderboard_page(language: str, where: str, when: str, game: str, lines: Sequence[Ranked], ranked: int) -> Panel:
    """Who is best: ``where`` "chat" or "all", ``when`` "month" or "all", ``game`` an id or "all".

    ``lines`` are the best, and the viewer's own last if it is not among them.
    """
    _ = texts(language).gettext
    page = Writer()
    about = [
        _(GAMES[game].name) if game in GAMES else _("all games"),
        _("this chat") if where == "chat" else _("everywhere"),
        _("this month") if when == "month" else _("all time"),
    ]
    page.line(_("🏆 Leaderboard"), "bold")
    page.line(" · ".join(about), "italic")
    page.gap()
    if not ranked:
        page.line(_("Nobody is ranked yet: it takes {count} games among people.").format(count=LEAST_GAMES))
    for line in lines:
        _ranked_line(page, line, language)
    rows: list[Row] = [
        tuple(
            _chosen(label, choice == where, "leaderboard", choice, when, game)
            for choice, label in (("chat", _("this chat")), ("all", _("everywhere")))
        ),
        tuple(
            _chosen(label, choice == when, "leaderboard", where, choice, game)
            for choice, label in (("month", _("this month")), ("all", _("all time")))
        ),
    ]
    games = [("all", _("all games")), *game_names(language).items()]
    buttons = [_chosen(label, choice == game, "leaderboard", where, when, choice) for choice, label in games]
    rows += [tuple(buttons[:4]), tuple(buttons[4:])]
    return page.panel(*rows)


def _ranked_line(page: Writer, line: Ranked, language: str) -> None:
    ngettext = texts(language).ngettext
    _ = texts(language).gettext
    place = MEDALS.get(line.rank, f"{line.rank}.") if line.rank else "–"
    games = ngettext("{count} game", "{count} games", line.standing.games).format(count=line.standing.games)
    wins = _("{count} won").format(count=line.standing.wins)
    name = isolated(line.name)
    if line.rank is None:
        page.line(_("{name}: {games}, not ranked yet").format(name=name, games=games), "italic")
    else:
        page.line(f"{place} {name} {line.standing.shown} ({games}, {wins})", "bold" if line.is_viewer else "")


def _chosen(label: str, chosen: bool, *words: object) -> Button:
    return Button(f"{'• ' if chosen else ''}{label}", actions.page(*words))


def stats_page(language: str, name: str, lines: Sequence[tuple[str, Standing, int | None, int]]) -> Panel:
    """How somebody has played: for each game (an id, or ``*`` for all) standing, rank and how many are ranked."""
    _ = texts(language).gettext
    ngettext = texts(language).ngettext
    page = Writer()
    page.line(_("📊 {name}"), "bold", name=isolated(name))
    page.gap()
    played = [line for line in lines if line[1].games]
    if not played:
        page.line(_("No rated game yet: games with a robot are not rated."))
    for game, standing, rank, ranked in played:
        label = _("all games") if game == EVERYTHING else _(GAMES[game].name)
        percent = round(100 * standing.wins / standing.games)
        games = ngettext("{count} game", "{count} games", standing.games).format(count=standing.games)
        place = _("rank {rank} of {ranked}").format(rank=rank, ranked=ranked) if rank else _("not ranked yet")
        page.line(
            _("{game}: {rating}, {games}, {percent} % won, {place}"),
            game=Span(label, "bold"),
            rating=standing.shown,
            games=games,
            percent=percent,
            place=place,
        )
    return page.panel()


@dataclass(frozen=True)
class Seated:
    """A table where somebody sits."""

    code: str
    game: str
    others: str
    state: str
    """ "open", "mine" (it is their turn) or "theirs"."""


def tables_page(language: str, tables: Sequence[Seated]) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Your tables"), "bold")
    states = {"open": _("waiting for players"), "mine": _("your turn"), "theirs": _("the others' turn")}
    if not tables:
        page.line(no_tables(language))
    for table in tables:
        page.line(
            _("{code}: {game} with {others}, {state}"),
            code=Span(table.code, "code"),
            game=_(GAMES[table.game].name),
            others=table.others or "…",
            state=states[table.state],
        )
    playing = [table for table in tables if table.state != "open"]
    rows = [
        tuple(
            Button(f"{'▶ ' if table.state == 'mine' else ''}{table.code}", actions.page("hand", table.code))
            for table in playing[at : at + 4]
        )
        for at in range(0, len(playing), 4)
    ]
    return page.panel(*rows)


def no_tables(language: str) -> str:
    """What somebody reads who sits nowhere."""
    return texts(language).gettext("You sit at no table. /challenge opens one.")


def settings_page(profile: Profile, *, has_ephemeral: bool) -> Panel:
    """A person's settings; where hands are shown can be chosen if the platform can show ephemeral messages."""
    _ = texts(profile.language).gettext
    page = Writer()
    page.line(_("Your settings"), "bold")
    page.line(_("Language, and the suits that your cards wear. Spades always wears French suits."))
    names = {"italian": _("Italian suits 🪙🏆⚔️🪵"), "french": _("French suits ♦️♥️♠️♣️")}
    places = {"private": _("Hands in our private chat"), "aside": _("Hands in the group, for my eyes only")}
    if has_ephemeral:
        page.line(_("Where you get your hand: in the group it comes when you press My hand, and does not ring."))
    return page.panel(
        tuple(
            _chosen(LANGUAGE_NAMES[code], profile.language == code, "settings", "language", code) for code in LANGUAGES
        ),
        tuple(_chosen(names[suits], profile.suits == suits, "settings", "suits", suits) for suits in SUITS),
        *((_chosen(places[one], profile.hands == one, "settings", "hands", one),) for one in HANDS if has_ephemeral),
        (
            Button(
                ("✓ " if profile.wants_calls else "") + _("Call me in the group when it is my turn"),
                actions.page("settings", "called", int(not profile.wants_calls)),
            ),
        ),
    )


def chat_settings_page(chat: ChatProfile) -> Panel:
    """A chat's settings."""
    words = Wording(chat.language, [])
    _ = words.text
    page = Writer()
    page.line(_("This chat's settings"), "bold")
    page.line(_("The language of boards, and the clock of new tables."))
    clocks = [
        _chosen(f"⏱ {short_clock(words, seconds)}", chat.clock == seconds, "settings", "clock", seconds)
        for seconds in CLOCKS
    ]
    strict = Button(
        ("✓ " if chat.strict else "") + _("strict clock"), actions.page("settings", "strict", int(not chat.strict))
    )
    return page.panel(
        tuple(_chosen(LANGUAGE_NAMES[code], chat.language == code, "settings", "language", code) for code in LANGUAGES),
        tuple(clocks[:3]),
        (*clocks[3:], strict),
        (Button(_("My own settings"), actions.page("settings")),),
    )


def replay_page(game: FinishedGame, deal: int, language: str, suits: str) -> Panel:
    """A finished game's deal, trick by trick."""
    faces = "spades" if game.record.game == "spades" else suits
    page, words = Writer(), Wording(language, (), faces)
    options = " · ".join(options_in_words(words, game.record.kind, game.record.rules))
    for number, (line, _trick_over) in enumerate(story(game.record, deal, language, faces, options)):
        if line:
            page.line(line, "" if number else "bold")
        else:
            page.gap()
    deals = len(game.record.deals)
    around = [(f"◀ {deal - 1}", deal - 1), (f"{deal}/{deals}", deal), (f"{deal + 1} ▶", deal + 1)]
    row = tuple(
        Button(label, actions.page("replay", game.id, number)) for label, number in around if 1 <= number <= deals
    )
    return page.panel(row if deals > 1 else ())


def help_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Buongioco: Italian cards among friends"), "bold")
    page.line(
        _(
            "Challenge somebody in a group. Each of you gets a hand in the private chat with me and plays by its "
            "buttons; the group reads the tricks."
        )
    )
    page.gap()
    for spec in listed():
        has_signs = any(one.in_help for one in spec.arguments)
        page.line(f"/{spec.name_in(language)}{' ' if has_signs else ': '}{spec.help_line(language)}")
    return page.panel((Button(_("Rules"), actions.page("rules")),))
