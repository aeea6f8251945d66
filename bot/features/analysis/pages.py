"""What could have been better: a page on a finished game, and a hint in one still being played."""

from collections.abc import Sequence
from dataclasses import replace

from bot import actions
from bot.finished.archive import FinishedGame
from bot.panel import Button, Panel, Writer
from bot.panels.course import how_it_went
from bot.panels.snapshot import isolated
from bot.somebody import spoken
from bot.wording import Wording, faces_of, score_unit_of
from engine import game_kind
from engine.robots.findings import Hint, Summary, Verdict, summary

BAR = 10
FULL, EMPTY = "▰", "▱"


def analysis_page(
    game: FinishedGame, verdicts: Sequence[Verdict], deals_done: int, language: str, suits: str, pages: str = ""
) -> Panel:
    """How well each player played, as a bar, and where the most was given away; or how far the analysis has come.

    ``pages`` is where our pages are, empty if they cannot be reached.
    """
    names = [spoken(name, language) for name in game.record.seats]
    words = Wording(language, names, faces_of(game.record.kind, suits))
    _ = words.text
    page = Writer()
    page.line(_("🔎 Analysis of {code}"), "bold", code=game.code)
    page.gap()
    deals, verdicts = len(game.record.deals), as_counted(verdicts, game.record.game)
    if deals_done < deals:
        page.line(_("I am looking at it. Deals done: {done} of {deals}."), done=deals_done, deals=deals)
        page.line(_bar(deals_done / deals))
        return page.panel((Button(_("Refresh"), actions.page("analysis", game.id), "good"),))
    for seat, name in enumerate(names):
        _player(page, words, name, summary(verdicts, seat))
    page.line(_("Late in a deal I compare with perfect play, cards open; before, with the strong robot."))
    page.fold()
    page.gap()
    for line in how_it_went(words, game.record):
        page.line(line)
    return page.panel((replay_button(words, game.id, pages),))


def replay_button(words: Wording, game_id: str, pages: str) -> Button:
    """Leads to a finished game, step by step: to its page, or to a message where there are no pages."""
    _ = words.text
    if pages and game_id:
        return Button(_("Replay"), f"{pages}/g/{game_id}", "", "link")
    return Button(_("Replay"), actions.page("replay", game_id, 1))


def _player(page: Writer, words: Wording, name: str, one: Summary) -> None:
    _ = words.text
    if one.accuracy is None:
        page.line(_("{name}: no decisions to judge"), "bold", name=isolated(name))
        page.gap()
        return
    decisions = words.ngettext("{count} decision", "{count} decisions", one.decisions).format(count=one.decisions)
    accuracy = {"percent": one.accuracy, "decisions": decisions}
    page.line(_("{name}: {percent} % of {decisions} good"), "bold", name=isolated(name), **accuracy)
    page.line(_bar(one.accuracy / 100))
    if not one.costliest:
        page.line(_("Nothing given away."))
    else:
        page.line(
            _("Points given away: {exact} for certain, about {judged} by judgement."),
            exact=points_text(one.lost_exactly),
            judged=points_text(one.lost_by_judgement),
        )
    for verdict in one.costliest:
        page.line(
            _("Deal {deal}: {move} instead of {better}, {points}"),
            deal=verdict.deal,
            move=short_move(words, verdict.move),
            better=short_move(words, verdict.better),
            points=lost_text(verdict),
        )
    page.gap()


def _bar(part: float) -> str:
    full = round(BAR * part)
    return FULL * full + EMPTY * (BAR - full)


def as_counted(verdicts: Sequence[Verdict], game: str) -> list[Verdict]:
    """Verdicts in points as a game's table counts them."""
    unit = score_unit_of(game)
    return [replace(one, lost=one.lost * unit) for one in verdicts]


def lost_text(verdict: Verdict) -> str:
    """What a decision gave away: for certain, or about."""
    return ("−" if verdict.exact else "≈ −") + points_text(verdict.lost)


def points_text(points: float) -> str:
    """Points to a tenth, without a nought behind it."""
    return f"{points:.1f}".removesuffix(".0")


def short_move(words: Wording, move: str) -> str:
    """A move without who made it."""
    _ = words.text
    word, *rest = move.split(" ")
    if word == "declare":
        return words.combination(move)
    if word == "bid":
        return _("nil") if rest == ["0"] else _("a bid of {tricks}").format(tricks=rest[0])
    return words.card(rest[0])


def hint_text(found: Hint, language: str, suits: str, game: str) -> str:
    """A hint in a line, short enough for every platform."""
    words = Wording(language, (), faces_of(game_kind(game), suits))
    _ = words.text
    return f"💡 {wish_text(words, found.move)}: {reasons(words)[found.reason]}"


def wish_text(words: Wording, move: str) -> str:
    """A move as what one is told to do: "Play 3D"."""
    _ = words.text
    word, *rest = move.split(" ")
    if word == "play":
        signal = f" ({rest[1]}!)" if len(rest) > 1 else ""
        return _("Play {card}").format(card=words.card(rest[0]) + signal)
    if word == "declare":
        return _("Declare {combination}").format(combination=words.combination(move))
    if word == "exchange":
        return _("Exchange {cards}").format(cards=words.cards(rest)) if rest else _("Exchange nothing")
    actions = {
        "take": _("Take packets {rest}"),
        "hold": _("Take packets {rest} in hand"),
        "pick": _("Pick up the honour on packet {rest}"),
        "claim": _("Claim that you have won"),
        "draw": _("Draw a card"),
        "keep": _("Keep the card"),
        "pass": _("Throw the card away"),
        "blind": _("Double nil, blind"),
        "bid": _("Bid nil") if rest == ["0"] else _("Bid {rest}"),
    }
    return actions[word].format(rest=" ".join(rest))


def reasons(words: Wording) -> dict[str, str]:
    _ = words.text
    return {
        "only": _("nothing else is allowed."),
        "declares": _("points for nothing, and later it may be too late."),
        "picks": _("in hand it may serve for a declaration, and the card below becomes free."),
        "picks_last": _("in hand it may serve for a declaration."),
        "frees": _("the card below becomes free."),
        "claims": _("you have the points."),
        "drafts": _("it is better than what usually comes."),
        "drafts_low": _("it is less likely to win a trick than what usually comes."),
        "draws": _("blind, a double nil would be a gamble."),
        "passes": _("what comes is usually better."),
        "passes_high": _("what comes is usually less likely to win a trick."),
        "exchanges": _("what comes for these is usually less likely to win a trick."),
        "exchanges_nothing": _("what comes is usually more likely to win a trick."),
        "bids": _("about that many tricks are likely; any more would be bags."),
        "nil": _("this hand need not win a trick."),
        "packets": _("honours on top can be picked up later."),
        "unseen": _("nothing is to be seen yet: any others are as good."),
        "counted": _("all cards are known, and it is counted out."),
        "takes_points": _("it takes a trick that is worth having."),
        "takes": _("it takes the trick, and the lead."),
        "highest_so_far": _("it is the highest so far."),
        "gives_partner": _("the trick is your partner's."),
        "partners_so_far": _("so far the trick is your partner's."),
        "spares": _("this trick is not worth a better card."),
        "gives_little": _("the trick is lost, and this gives least away."),
        "lost_so_far": _("so far the others are winning, and this gives little away."),
        "cannot_be_beaten": _("nobody can beat it."),
        "leads_low": _("a cheap lead, and your high cards stay."),
        "wants_none": _("you want no trick."),
        "likely": _("of all the ways the cards may lie, most go well with it."),
        "cards_open": _("with all cards open it brings most."),
    }
