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


def trick_news(seen: TableSnapshot, words: Wording, deal: DealView) -> str:
    """Return who took the previous trick, its points and the player's draw; empty once the player has played again."""
    _, trick = words.text, deal.last_trick
    if trick is None or deal.phase != "play" or any(played.seat == seen.seat for played in deal.trick):
        return ""
    is_own, name = trick.winner == seen.seat, seen.name(trick.winner)
    shown = deal.drawn if isinstance(deal, StockView) else ()
    points = f" ({_trick_points(seen, trick)})" if seen.kind.is_tressette else ""
    if card := next((card_in_sentence(words, card) for by, card, _signal in shown if by == seen.seat), ""):
        line = _("You took the trick{points} and drew {card}.")
        if not is_own:
            line = _("{name} took the trick{points}, you drew {card}.")
        return line.format(name=name, points=points, card=card)
    line = _("You took the trick{points}.") if is_own else _("{name} took the trick{points}.")
    return line.format(name=name, points=points)


def _trick_points(seen: TableSnapshot, trick: LastTrick) -> str:
    """Return what a trick is worth in the table's unit, such as "+1⅓"."""
    thirds = sum(THIRDS[ITALIAN.index[card]] for _seat, card, _signal in trick.cards)
    return f"+{thirds_text(thirds * score_unit(seen.rules))}"


def later_declaration(seen: TableSnapshot, words: Wording) -> str:
    """Return what the player holds but can declare only after the first trick; empty otherwise."""
    deal = seen.view.deal if seen.view else None
    is_first_trick = deal is not None and deal.phase == "play" and not sum(deal.tricks)
    if deal is None or not is_first_trick or seen.rules.get("declare") != "after_first_trick":
        return ""
    _ = words.text
    held = [*(deal.hand or ()), *(card for seat, card, _signal in deal.trick if seat == seen.seat)]
    found = [words.combination(each.move) for each in combinations_in(ITALIAN.mask(held))]
    line = _("📣 You can declare this after the first trick: {combinations}")
    return line.format(combinations=", ".join(found)) if found else ""


def move_news(seen: TableSnapshot, words: Wording, lines: TableLines) -> Iterator[str]:
    """Yield the player's own declaration, and the others' events since the player's last move, except played cards."""
    _ = words.text
    yield from lines.robot_lines()
    if not seen.since and (cut := cut_news(seen, words)):
        yield cut
    for speaker, phrase in seen.phrases:
        said = phrase_text(words.language, phrase)
        yield f"💬 {seen.name(speaker)}: {said}"
    _by, own_move = seen.history[seen.since - 1] if seen.since else (None, "")
    if declared := COMBINATIONS.get(own_move):
        points = shown_points(seen, declared.points)
        line = _("You declared {combination}: +{points}.")
        yield line.format(combination=words.combination(own_move), points=points)
    for by, move in seen.history[seen.since :]:
        if by != seen.seat and not move.startswith("play "):
            combination = COMBINATIONS.get(move)
            reward = f" (+{shown_points(seen, combination.points)})" if combination else ""
            yield f"{words.move(by, move)}{reward}"
    if later := later_declaration(seen, words):
        yield later


def newcomer_lines(seen: TableSnapshot, words: Wording) -> Iterator[str]:
    """Yield the order of cards, the goal and the game's length, for a newcomer to the game."""
    _, target = words.text, int(seen.rules["target"])
    points = shown_points(seen, target)
    if seen.kind.is_tressette:
        ranks = " ".join(map(words.faces.rank, reversed(seen.kind.pack.ranks)))
        yield _("High to low: {ranks} · follow suit · {points} points win").format(ranks=ranks, points=points)
    elif not seen.is_duplicate:
        yield _("{points} points win.").format(points=points)
    if seen.is_practice and not seen.is_duplicate:
        yield deals_line(words, usual_deals(seen.kind, target))


def step_line(seen: TableSnapshot, words: Wording) -> str:
    """Return what a newcomer must know at this step of a deal; empty if there is nothing."""
    deal = seen.view.deal if seen.view else None
    if isinstance(deal, PacketsView) and seen.is_my_turn:
        return _packet_line(seen, words, deal)
    return _spades_line(seen, words, deal) if isinstance(deal, SpadesView) and seen.is_my_turn else ""


def _spades_line(seen: TableSnapshot, words: Wording, deal: SpadesView) -> str:
    _ = words.text
    if deal.phase == "bid":
        return _("Your bid scores 10 a trick if you take that many, and loses 10 a trick if not. Nil means no trick.")
    if deal.phase == "draft" and not seen.since:
        return _("You draw 13 cards: keep each card that you draw, or throw it away and keep the next, unseen.")
    played = [by for by, move in seen.history if move.startswith("play ") and by == seen.seat]
    if deal.phase != "play" or len(played) > 1:
        return ""
    if played:
        return _("Tricks above your bid are bags: 1 point each, but every tenth costs 100.")
    return _("Follow suit if you can. Spades beat all other suits.")


def _packet_line(seen: TableSnapshot, words: Wording, deal: PacketsView) -> str:
    _ = words.text
    assert seen.view
    if deal.phase == "take":
        return _("Each packet has five cards, unseen: choosing is pure luck. Choose four, then press Take.")
    if deal.phase == "hold":
        return _("Ten cards become your hand. The other two packets lie in front of you, top card open.")
    if any(move.startswith("pick ") for move in seen.view.moves):
        return _("⬆️ takes the card into your hand, where it can be declared. You don’t have to.")
    has_played = any(by == seen.seat and move.startswith("play ") for by, move in seen.history)
    return "" if has_played else _("📦 is the top of a packet of yours: play it like a card in hand.")


def deals_line(words: Wording, deals: int) -> str:
    """Return about how many deals a game takes."""
    return words.ngettext("That’s about {count} deal.", "That’s about {count} deals.", deals).format(count=deals)


def partner_line(seen: TableSnapshot, words: Wording) -> str:
    """Return the player's partner, until the player's first move of the game; empty in games for two."""
    if len(seen.chairs) < 4 or seen.seat is None or seen.since or not seen.view or seen.view.deal_number > 1:
        return ""
    _ = words.text
    return _("Your partner: {name}").format(name=seen.name((seen.seat + 2) % 4))
