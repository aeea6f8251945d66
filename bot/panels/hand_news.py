"""Lines of a hand about what has just happened, and lines that explain the game to newcomers."""

from collections.abc import Iterator

from bot.tables.snapshot import TableSnapshot
from bot.words.phrases import phrase_text
from bot.words.spoken import card_in_sentence
from bot.words.table_lines import TableLines, cut_news, shown_points
from bot.words.wording import Wording, score_unit, thirds_text, usual_deals
from engine.cards import ITALIAN
from engine.declarations import COMBINATIONS, combinations_in
from engine.tressette import THIRDS
from engine.views import DealView, LastTrick, PacketsView, SpadesView, StockView


def trick_news(snapshot: TableSnapshot, words: Wording, deal: DealView) -> str:
    """Return who took the previous trick, its points and the player's draw; empty once the player has played again."""
    _, trick = words.text, deal.last_trick
    if trick is None or deal.phase != "play" or any(shown_card.seat == snapshot.seat for shown_card in deal.trick):
        return ""
    is_own, name = trick.winner == snapshot.seat, snapshot.name(trick.winner)
    drawn_cards = deal.drawn if isinstance(deal, StockView) else ()
    own_cards = [card for seat, card, _signal in drawn_cards if seat == snapshot.seat]
    points = f" ({_trick_points(snapshot, trick)})" if snapshot.kind.is_tressette else ""
    if not own_cards:
        line = _("You took the trick{points}.") if is_own else _("{name} took the trick{points}.")
        return line.format(name=name, points=points)
    line = _("{name} took the trick{points}, you drew {card}.")
    if is_own:
        line = _("You took the trick{points} and drew {card}.")
    return line.format(name=name, points=points, card=card_in_sentence(words, own_cards[0]))


def _trick_points(snapshot: TableSnapshot, trick: LastTrick) -> str:
    """Return what a trick is worth in the table's unit, such as "+1⅓"."""
    thirds = sum(THIRDS[ITALIAN.index[card]] for _seat, card, _signal in trick.cards)
    return f"+{thirds_text(thirds * score_unit(snapshot.rules))}"


def later_declaration(snapshot: TableSnapshot, words: Wording) -> str:
    """Return what the player holds but can declare only after the first trick; empty otherwise."""
    deal = snapshot.view.deal if snapshot.view else None
    is_first_trick = deal is not None and deal.phase == "play" and not sum(deal.tricks)
    if deal is None or not is_first_trick or snapshot.rules.get("declare") != "after_first_trick":
        return ""
    _ = words.text
    held_cards = [*(deal.hand or ()), *(card for seat, card, _signal in deal.trick if seat == snapshot.seat)]
    combinations = [words.combination(combination.move) for combination in combinations_in(ITALIAN.mask(held_cards))]
    line = _("📣 You can declare this after the first trick: {combinations}")
    return line.format(combinations=", ".join(combinations)) if combinations else ""


def move_news(snapshot: TableSnapshot, words: Wording, lines: TableLines) -> Iterator[str]:
    """Yield the player's own declaration, and the others' events since the player's last move, except played cards."""
    _ = words.text
    yield from lines.robot_lines()
    if not snapshot.since and (cut := cut_news(snapshot, words)):
        yield cut
    for speaker, phrase in snapshot.phrases:
        sentence = phrase_text(words.language, phrase)
        yield f"💬 {snapshot.name(speaker)}: {sentence}"
    history = snapshot.history
    own_seat, own_move = history[snapshot.since - 1] if snapshot.since else (None, "")
    if declaration := COMBINATIONS.get(own_move):
        points = shown_points(snapshot, declaration.points)
        line = _("You declared {combination}: +{points}.")
        again = words.again(history[: snapshot.since - 1], own_seat, own_move)
        yield line.format(combination=words.combination(own_move) + again, points=points)
    deal = snapshot.view.deal if snapshot.view else None
    picks = [number for number, (_seat, move) in enumerate(history) if move.startswith("pick ")]
    picked = dict(zip(picks, deal.picked, strict=True)) if isinstance(deal, PacketsView) else {}
    for number, (seat, move) in enumerate(history[snapshot.since :], snapshot.since):
        if seat is not None and seat != snapshot.seat and number in picked:
            yield words.pick(seat, move, picked[number].card)
        elif seat != snapshot.seat and not move.startswith("play "):
            combination = COMBINATIONS.get(move)
            reward = f" (+{shown_points(snapshot, combination.points)})" if combination else ""
            yield f"{words.move(seat, move)}{words.again(history[:number], seat, move)}{reward}"
    if later_sentence := later_declaration(snapshot, words):
        yield later_sentence


def newcomer_lines(snapshot: TableSnapshot, words: Wording) -> Iterator[str]:
    """Yield the order of cards, the goal and the game's length, for a newcomer to the game."""
    _, target = words.text, int(snapshot.rules["target"])
    points = shown_points(snapshot, target)
    if snapshot.kind.is_tressette:
        ranks = " ".join(map(words.faces.rank, reversed(snapshot.kind.pack.ranks)))
        yield _("High to low: {ranks} · follow suit · {points} points win").format(ranks=ranks, points=points)
    elif not snapshot.is_duplicate:
        yield _("{points} points win.").format(points=points)
    if snapshot.is_practice and not snapshot.is_duplicate:
        yield deals_line(words, usual_deals(snapshot.kind, target))


def step_line(snapshot: TableSnapshot, words: Wording) -> str:
    """Return what a newcomer must know at this step of a deal; empty if there is nothing."""
    deal = snapshot.view.deal if snapshot.view else None
    if isinstance(deal, PacketsView) and snapshot.is_my_turn:
        return _packet_line(snapshot, words, deal)
    return _spades_line(snapshot, words, deal) if isinstance(deal, SpadesView) and snapshot.is_my_turn else ""


def _spades_line(snapshot: TableSnapshot, words: Wording, deal: SpadesView) -> str:
    _ = words.text
    if deal.phase == "bid":
        return _("Your bid scores 10 a trick if you take that many, and loses 10 a trick if not. Nil means no trick.")
    if deal.phase == "draft" and not snapshot.since:
        return _("You draw 13 cards: keep each card that you draw, or throw it away and keep the next, unseen.")
    played = [seat for seat, move in snapshot.history if move.startswith("play ") and seat == snapshot.seat]
    if deal.phase != "play" or len(played) > 1:
        return ""
    if played:
        return _("Tricks above your bid are bags: 1 point each, but every tenth costs 100.")
    return _("Follow suit if you can. Spades beat all other suits.")


def _packet_line(snapshot: TableSnapshot, words: Wording, deal: PacketsView) -> str:
    _ = words.text
    assert snapshot.view
    if deal.phase == "take":
        return _("Each packet has five cards, unseen: choosing is pure luck. Choose four, then press Take.")
    if deal.phase == "hold":
        return _("Ten cards become your hand. The other two packets lie in front of you, top card open.")
    if any(move.startswith("pick ") for move in snapshot.view.moves):
        return _("⬆️ takes the card into your hand, where it can be declared. You don’t have to.")
    has_played = any(seat == snapshot.seat and move.startswith("play ") for seat, move in snapshot.history)
    return "" if has_played else _("📦 is the top of a packet of yours: play it like a card in hand.")


def deals_line(words: Wording, deals: int) -> str:
    """Return about how many deals a game takes."""
    return words.ngettext("That’s about {count} deal.", "That’s about {count} deals.", deals).format(count=deals)


def partner_line(snapshot: TableSnapshot, words: Wording) -> str:
    """Return the player's partner, until the player's first move of the game; empty in games for two."""
    _, view = words.text, snapshot.view
    if snapshot.seat is None or len(snapshot.chairs) < 4:
        return ""
    if view is None or view.deal_number > 1 or snapshot.since:
        return ""
    return _("Your partner: {name}").format(name=snapshot.name((snapshot.seat + 2) % 4))
