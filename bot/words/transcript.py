"""Transcripts of games, made from their records."""

from collections.abc import Iterator

from bot.identity.pseudonyms import localize_name
from bot.words.one_deal import deal_result
from bot.words.wording import Wording, score_unit, thirds_text
from engine import DealView, Game, Record
from engine import replay as replay_deal
from engine.options import format_value
from engine.tressette import TressetteDeal
from engine.views import PacketsView, StockView

Line = tuple[str, bool]  # a line of the story, and whether a trick ends with it


def story(record: Record, deal: int | None, language: str, faces: str = "codes", options: str = "") -> Iterator[Line]:
    """Yield the lines of a game or of one deal; ``faces`` as for `Wording`.

    ``options`` is the text of the game's options; the default is their form in the record. Raises FaultyRecord for an
    illegal move.
    """
    words = Wording(language, [printable_name(localize_name(name, language)) for name in record.seats], faces)
    _ = words.text
    yield _(record.kind.name), False
    yield f"{words.side(0)} — {words.side(1)} ({options or _options(record)})", False
    for number in [deal] if deal else range(1, len(record.deals) + 1):
        yield "", False
        yield from _deal_story(record, number, words)
    if record.ending and deal in (None, len(record.deals)):
        yield "", False
        yield ending_of(record, words), False


def ending_of(record: Record, words: Wording) -> str:
    """Return who won, and how. A game of one deal played to its end has no winner."""
    if record.ending == "cancelled" and len(record.deals) == 1 and deal_result(record).how == "played":
        return words.text("The deal is over.")
    return words.ending(record.winner, record.ending)


def _options(record: Record) -> str:
    return ", ".join(f"{name} {format_value(value)}" for name, value in record.rules.items())


def printable_name(name: str) -> str:
    """Remove control characters, which terminals would obey."""
    return "".join(char for char in name if char.isprintable()) or "?"


def _deal_story(record: Record, number: int, words: Wording) -> Iterator[Line]:
    _ = words.text
    deal = record.deals[number - 1]
    begins = _("Deal {number}: {name} deals")
    if not record.kind.has_dealer:
        begins = _("Deal {number}: {name} draws first")
    yield begins.format(number=number, name=words.names[deal.dealer]), False
    told, phase = 0, ""
    game: Game | None = None
    thirds_before = (0, 0)
    for game in replay_deal(record, number):
        view = game.view(None).deal
        if view is None:
            continue
        for seat, move in game.moves[told:]:
            if not move.startswith("play "):
                yield f"  {words.move(seat, move)}", False
        new_trick = len(game.moves) > told and view.last_trick is not None and not view.trick
        new_trick = new_trick and game.moves[-1][1].startswith("play ")
        told = len(game.moves)
        if view.phase == "play" != phase:
            yield from _hand_lines(game, words)
        phase = view.phase
        if new_trick:
            yield _trick_line(game, view, words, thirds_before), True
        if isinstance(game.current, TressetteDeal):
            thirds_before = (game.current.taken[0], game.current.taken[1])
    for line in words.score(deal.entries(), deal.totals, record.rules):
        yield f"  {line}", False
    if deal.proof:
        yield f"  {words.labels['secret']}: {deal.proof.secret}", False


def _hand_lines(game: Game, words: Wording) -> Iterator[Line]:
    for seat, name in enumerate(words.names):
        view = game.view(seat).deal
        if view is None:
            continue
        line = f"  {name}: {words.cards(view.hand or ())}"
        if isinstance(view, PacketsView):
            tops = [f"{p.number}={words.card(p.top)}" for p in view.packets if p.owner == seat and p.top]
            line += f"  [{' '.join(tops)}]"
        yield line, False


def _trick_line(game: Game, view: DealView, words: Wording, before: tuple[int, int]) -> str:
    _ = words.text
    assert view.last_trick is not None
    winner = view.last_trick.winner
    cards = "  ".join(
        f"{words.names[by]} {words.card(card)}{f' ({signal})' if signal else ''}"
        for by, card, signal in view.last_trick.cards
    )
    line = f"  {sum(view.tricks):2}. {cards}  → {words.names[winner]}"
    if isinstance(game.current, TressetteDeal):
        taken = game.current.taken[winner & 1] - before[winner & 1]
        line += f" +{thirds_text(taken * score_unit(game.rules.model_dump()))}"
    if isinstance(view, StockView) and view.drawn:
        draws = ", ".join(
            _("{name} draws {card}").format(name=words.names[by], card=words.card(card)) for by, card, _s in view.drawn
        )
        line += f"  ({draws})"
    return line
