"""Texts of hints and of the analysis of moves."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from bot import actions
from bot.panel import Button
from bot.words.spoken import card_in_sentence
from bot.words.wording import Wording, decimal_text, score_unit_of, thirds_text
from engine.robots.verdicts import Hint, Summary, Verdict


class ShownHint(NamedTuple):
    """A hint on a hand. Until a robot has computed it, ``found`` is None.

    ``is_asked``: the player pressed *Hint*. ``is_unasked``: it belongs to a first game. ``is_busy``: no robot computed
    it in time. ``is_first``: it is the first unasked hint of a game. ``have_ended``: unasked hints have ended, and this
    turn is the first without one.
    """

    found: Hint | None = None
    is_asked: bool = False
    is_busy: bool = False
    is_first: bool = False
    is_unasked: bool = False
    have_ended: bool = False


NO_HINT = ShownHint()
WHOLE = 3  # thirds of a point


def replay_button(words: Wording, game_id: str, pages: str) -> Button:
    """Return a button to a game's replay: its web page, or a message if the bot has no pages."""
    _ = words.text
    if pages and game_id:
        return Button(_("Replay"), f"{pages}/g/{game_id}", "", "link")
    return Button(_("Replay"), actions.page("replay", game_id, 1))


def scale_verdicts(verdicts: Sequence[Verdict], game: str) -> list[Verdict]:
    """Return verdicts with points in the table's unit."""
    unit = score_unit_of(game)
    return [replace(verdict, lost=verdict.lost * unit) for verdict in verdicts]


def lost_text(words: Wording, verdict: Verdict) -> str:
    """Return the points that a move lost, such as "≈ −2.2 points"."""
    figure = points_text(verdict.lost, words.language, exact=verdict.exact)
    sentence = words.ngettext("{count} point", "{count} points", 1 if figure == "1" else 2)
    if figure in ("⅓", "⅔"):
        sentence = words.text("{count} of a point")
    points = sentence.format(count=f"−{figure}")
    return points if verdict.exact else f"≈ {points}"


def replay_step(verdict: Verdict) -> str:
    """Return the part of a replay's address that leads to the position after a move."""
    return f"#d{verdict.deal}m{verdict.move_index + 1}"


def points_text(points: float, language: str, *, exact: bool = False) -> str:
    """Return points rounded to a tenth, without ".0". If they are ``exact``, return whole points and thirds: "3⅓"."""
    if exact:
        return thirds_text(round(points * WHOLE))
    return decimal_text(f"{points:.1f}".removesuffix(".0"), language)


def given_away_text(words: Wording, summary: Summary) -> str:
    """Return the points that a player's moves lost: exact ones and approximate ones."""
    _ = words.text
    exact_points, judged_points = _lost_points(words.language, summary)
    if judged_points == "0":
        return _("Points given away: {points}").format(points=exact_points)
    if exact_points == "0":
        return _("Points given away: about {points}").format(points=judged_points)
    return _("Points given away: {exact}, plus about {judged}").format(exact=exact_points, judged=judged_points)


def points_given_away(summary: Summary, language: str) -> str:
    """Return the same points for a table: "4", "≈ 2" or "4 + ≈ 2"."""
    exact_points, judged_points = _lost_points(language, summary)
    parts = [] if exact_points == "0" and judged_points != "0" else [exact_points]
    return " + ".join([*parts, f"≈ {judged_points}"] if judged_points != "0" else parts)


def _lost_points(language: str, summary: Summary) -> tuple[str, str]:
    exact_points = points_text(summary.lost_exactly, language, exact=True)
    return exact_points, points_text(summary.lost_by_judgement, language)


def better_text(words: Wording, verdict: Verdict) -> str:
    """Return the better move and its reason; empty if the move lost nothing."""
    _ = words.text
    if verdict.lost <= 0:
        return ""
    reason = reason_texts(words).get(verdict.why, "").rstrip(".")
    sentence = _("Better: {move} ({why})") if reason else _("Better: {move}")
    return sentence.format(move=short_move(words, verdict.better), why=reason)


def rests_on_unseen_cards(verdict: Verdict) -> bool:
    """Return whether a verdict of a loss rests on cards that its player could not see.

    Hints judge by what the player knows, so such a verdict can contradict a hint.
    """
    return verdict.exact and verdict.lost > 0 and verdict.why not in ("counted", "declares")


def open_cards_note(words: Wording, verdict: Verdict) -> str:
    """Return that a verdict rests on cards that its player could not see; empty for other verdicts."""
    _ = words.text
    note = _("Judged with all hands open: neither you nor a hint could see them.")
    return note if rests_on_unseen_cards(verdict) else ""


def short_move(words: Wording, move: str) -> str:
    _ = words.text
    word, *arguments = move.split(" ")
    if word == "declare":
        return words.combination(move)
    if word == "bid":
        return _("nil") if arguments == ["0"] else _("a bid of {tricks}").format(tricks=arguments[0])
    return words.card(arguments[0])


def shown_hint_text(hint: ShownHint, words: Wording) -> str:
    """Return a hint; empty for none. The first hint in a person's first game says why it appears."""
    _ = words.text
    if hint.have_ended:
        return _("💡 From now on, press Hint.")
    if hint.found and hint.found.reason == "unseen":
        text = _("💡 You can’t see any cards yet, so any choice is as good.") if hint.is_asked else ""
    elif hint.found:
        text = f"💡 {advice_text(words, hint.found.move)}: {hint_reason(words, hint.found)}"
    elif hint.is_busy:
        text = _("💡 No hint in time: press again.") if hint.is_asked else _("💡 No hint in time: press Hint.")
    else:
        text = _("💡 Looking…") if hint.is_asked or hint.is_unasked else ""
    first_line = _("First game: I give you hints at first. Later, press 💡 Hint.") if hint.is_first else ""
    return "\n".join(filter(None, (first_line, text)))


def advice_text(words: Wording, move: str) -> str:
    """Return a move as advice, such as "Play the 3 of coins"."""
    _ = words.text
    word, *arguments = move.split(" ")
    if word == "play":
        signal = f" ({arguments[1]}!)" if len(arguments) > 1 else ""
        return _("Play {card}").format(card=card_in_sentence(words, arguments[0]) + signal)
    if word == "declare":
        return _("Declare {combination}").format(combination=words.combination(move))
    if word == "exchange":
        return _("Exchange {cards}").format(cards=words.cards(arguments)) if arguments else _("Exchange nothing")
    actions = {
        "take": _("Take packets {rest}"),
        "hold": _("Take packets {rest} in hand"),
        "pick": _("Pick up the honour on packet {rest}"),
        "claim": _("Claim that you have won"),
        "draw": _("Draw a card"),
        "keep": _("Keep the card"),
        "pass": _("Throw the card away"),
        "blind": _("Double nil, blind"),
        "bid": _("Bid nil") if arguments == ["0"] else _("Bid {rest}"),
    }
    return actions[word].format(rest=" ".join(arguments))


def _named_cards(words: Wording, cards: Sequence[str]) -> str:
    return words.text(" and ").join(card_in_sentence(words, card) for card in cards)


def hint_reason(words: Wording, hint: Hint) -> str:
    """Return why a hint's move is good, with the points and cards that it is about."""
    _ = words.text
    count = words.ngettext("{count} point", "{count} points", 1 if hint.thirds == WHOLE else 2)
    if hint.thirds < WHOLE:
        count = _("{count} of a point")
    points = count.format(count=thirds_text(hint.thirds))
    sentences = {
        "takes_points": _("it takes the trick, worth {points}."),
        "takes": _("it takes the trick, worth {points}, and then you lead."),
        "gives_little": _("you can’t take this trick, and it gives away only {points}."),
    }
    without_points = {
        "gives_little": _("you can’t take this trick, and it gives nothing away."),
        "lost_so_far": _("so far the others are winning, and it gives nothing away."),
    }
    if hint.reason == "spares":
        sentence = _("you don’t need this trick: keep {card} for later.")
        if hint.thirds:
            sentence = _("taking it brings only {points}: keep {card} for later.")
        return sentence.format(points=points, card=_named_cards(words, hint.cards))
    if hint.reason == "likely" and hint.cards:
        sentence = words.ngettext("only {cards} can beat it.", "only {cards} can beat it.", len(hint.cards))
        return sentence.format(cards=_named_cards(words, hint.cards))
    texts_by_reason = sentences if hint.thirds else without_points
    return texts_by_reason.get(hint.reason, reason_texts(words)[hint.reason]).format(points=points)


def reason_texts(words: Wording) -> dict[str, str]:
    _ = words.text
    return {
        "only": _("nothing else is allowed."),
        "only_follows": _("only this card follows suit."),
        "last_card": _("it is your last card."),
        "no_spades_yet": _("spades can’t be led yet."),
        "declares": _("free points, and later could be too late."),
        "picks": _("in hand it can serve for a declaration, and the card below becomes free."),
        "picks_last": _("in hand it can serve for a declaration."),
        "frees": _("the card below becomes free."),
        "claims": _("you have the points."),
        "drafts": _("it is better than the usual next card."),
        "drafts_low": _("it is less likely to win a trick than the usual next card."),
        "draws": _("blind, a double nil would be a gamble."),
        "passes": _("the next card is usually better."),
        "passes_high": _("the next card is usually less likely to win a trick."),
        "exchanges": _("the new cards are usually less likely to win a trick."),
        "exchanges_nothing": _("new cards are usually more likely to win a trick."),
        "bids": _("about that many tricks are likely; any more would be bags."),
        "nil": _("with this hand every trick can be avoided."),
        "packets": _("honours on top can be picked up later."),
        "unseen": _("you can’t see any cards yet, so any choice is as good."),
        "counted": _("every hidden card can be worked out, and no other card does better."),
        "takes_points": _("it takes a trick that is worth having."),
        "takes": _("it takes the trick, and the lead."),
        "highest_so_far": _("it is the highest so far."),
        "gives_partner": _("the trick is the partner’s."),
        "partners_so_far": _("so far the trick is the partner’s."),
        "spares": _("this trick isn’t worth a better card."),
        "gives_little": _("the trick is lost, and this gives least away."),
        "lost_so_far": _("so far the others are winning, and this gives little away."),
        "cannot_be_beaten": _("it can’t be beaten."),
        "leads_low": _("it costs little, and the high cards stay."),
        "wants_none": _("no trick is wanted."),
        "likely": _("in the long run it brings most."),
        "cards_open": _("with all cards open it brings most."),
    }
