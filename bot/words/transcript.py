"""Transcripts of games, made from their records."""

from collections.abc import Iterator

from bot.identity.pseudonyms import localize_name
from bot.words.duplicate_results import deal_result
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
    options = options or ", ".join(f"{name} {format_value(value)}" for name, value in record.rules.items())
    yield f"{words.side(0)} — {words.side(1)} ({options})", False
    for number in [deal] if deal else range(1, len(record.deals) + 1):
        yield "", False
        yield from _deal_story(record, number, words)
    if record.ending and deal in (None, len(record.deals)):
        yield "", False
        yield ending_of(record, words), False


def ending_of(record: Record, words: Wording) -> str:
    """Return who won, and how. A game of one deal played to its end has no winner."""
    if record.ending == "cancelled" and len(record.deals) == 1 and deal_result(record).ending == "played":
        return words.text("The deal is over.")
    return words.ending(record.winner, record.ending)


def printable_name(name: str) -> str:
    """Remove control characters, which terminals would obey."""
    return "".join(char for char in name if char.isprintable()) or "?"


def _deal_story(record: Record, number: int, words: Wording) -> Iterator[Line]:
    _ = words.text
    deal = record.deals[number - 1]
    heading = _("Deal {number}: {name} deals") if record.kind.has_dealer else _("Deal {number}: {name} draws first")
    yield heading.format(number=number, name=words.names[deal.dealer]), False
    moves_shown, phase = 0, ""
    thirds_before = (0, 0)
    for game in replay_deal(record, number):
        view = game.view(None).deal
        if view is None:
            continue
        new_moves = game.moves[moves_shown:]
        moves_shown = len(game.moves)
        for seat, move in new_moves:
            if move.startswith("pick ") and isinstance(view, PacketsView):
                # The deal is replayed move by move, so this is the last card.
                yield f"  {words.pick(view.picked[-1].seat, move, view.picked[-1].card)}", False
            elif not move.startswith("play "):
                yield f"  {words.move(seat, move)}", False
        ends_trick = new_moves and new_moves[-1][1].startswith("play ") and view.last_trick and not view.trick
        if view.phase == "play" != phase:
            yield from _hand_lines(game, words)
        phase = view.phase
        if ends_trick:
            yield _trick_line(game, view, words, thirds_before), True
        if isinstance(game.current, TressetteDeal):
            thirds_before = (game.current.taken[0], game.current.taken[1])
    for line in words.score(deal.entries(), deal.totals, record.rules):
        yield f"  {line}", False
    if deal.proof:
        yield f"  {words.labels['secret']}: {deal.proof.secret}", False
        if cut := deal.proof.made_cut:
            cut_by = _("cut by {name}").format(name=words.names[cut.seat])
            yield f"  {cut_by}: {cut.text}", False


def _hand_lines(game: Game, words: Wording) -> Iterator[Line]:
    for seat, name in enumerate(words.names):
        view = game.view(seat).deal
        assert view is not None
        line = f"  {name}: {words.cards(view.hand or ())}"
        if isinstance(view, PacketsView):
            packets = [packet for packet in view.packets if packet.owner == seat]
            top_cards = [f"{packet.number}={words.card(packet.top)}" for packet in packets if packet.top]
            line += f"  [{' '.join(top_cards)}]"
        yield line, False


def _trick_line(game: Game, view: DealView, words: Wording, earlier_thirds: tuple[int, int]) -> str:
    _ = words.text
    assert view.last_trick is not None
    winner = view.last_trick.winner
    cards = "  ".join(
        f"{words.names[seat]} {words.card(card)}{f' ({signal})' if signal else ''}"
        for seat, card, signal in view.last_trick.cards
    )
    line = f"  {sum(view.tricks):2}. {cards}  → {words.names[winner]}"
    if isinstance(game.current, TressetteDeal):
        taken_thirds = game.current.taken[winner & 1] - earlier_thirds[winner & 1]
        line += f" +{thirds_text(taken_thirds * score_unit(game.rules.model_dump()))}"
    if isinstance(view, StockView) and view.drawn:
        draws = ", ".join(
            _("{name} draws {card}").format(name=words.names[seat], card=words.card(card))
            for seat, card, _signal in view.drawn
        )
        line += f"  ({draws})"
    return line
