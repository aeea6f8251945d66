"""The rules in short, for players; docs/rules.md explains each option."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from bot.command_names import FAIR
from bot.panel_picture import Suits
from bot.texts import gettext_noop as _
from bot.texts import texts
from bot.words.wording import CardFaces, Wording, card_faces, faces_of, score_unit_of
from engine import GAMES, GameKind
from engine.cards import ITALIAN
from engine.tressette import THIRDS

# what newcomers read about each game, after its name
GAME_LINES = {
    "pizzichino": _("two players, no drawing: half of your cards lie in open packets."),
    "spizzichino": _("Pizzichino with fixed rules: always blind, always to 51."),
    "metamazzo": _("two players; you draw after each trick, and declare what you draw."),
    "testa": _("two players who draw too, but declare only early. Shorter."),
    "tressette": _("four in pairs; tell your partner busso (play high) or volo (my last of this suit)."),
    "tavolo": _("four in pairs; you choose your partner, and nobody signals."),
    "spades": _("two players, French cards: you say how many tricks you’ll take."),
}
SPADES_COUNTING = _(
    "Bid made: 10 for each trick bid, 1 for each over it. Bid missed: minus 10 for each trick bid. Nil: ±100; double "
    "nil: ±200."
)
RANKS = ITALIAN.ranks[::-1]  # from high to low


class RulesText(NamedTuple):
    """The rules of a game or another subject: a title, and lines of a sentence or two.

    ``ranking`` are the cards of one suit from high to low, each with its points as a fraction. ``counting`` is the line
    about how points count, or empty.
    """

    title: str
    lines: list[str]
    ranking: Sequence[tuple[str, str]] = ()
    suits: Suits = "italian"
    counting: str = ""


def ranking_of(kind: GameKind) -> list[tuple[str, str]]:
    """Return the cards of one suit from high to low, each with its points in the table's unit."""
    pack = kind.pack
    suit = kind.trump or pack.suits[0]
    cards = [rank + suit for rank in reversed(pack.ranks)]
    return [(card, _card_worth(card, score_unit_of(kind.id)) if kind.is_tressette else "") for card in cards]


@cache
def _card_worth(card: str, unit: int = 1) -> str:
    """Return the points of an Italian card, as a fraction."""
    return str(Fraction(unit * THIRDS[ITALIAN.index[card]], 3))


def rules_text(language: str, subject: str = "", faces: str = "italian", *, unit: int = 1) -> RulesText:
    """Return the rules of a ``subject``: a game's id, or another word.

    The word "fair" stands for how to check a shuffle, and an empty text for the common rules of Tressette. Forty cards
    are shown with ``faces``. The common rules count points in the ``unit`` of a game (`score_unit_of`).
    """
    _ = texts(language).gettext
    if kind := GAMES.get(subject):
        lines = [*_game_rules(language, faces).get(subject, ()), _ranking_line(language, kind, faces)]
        deck, counting = card_faces(faces_of(kind, "italian")).deck, "" if kind.is_tressette else _(SPADES_COUNTING)
        return RulesText(_(kind.name), lines, ranking_of(kind), deck, counting)
    if subject == FAIR:
        fairness = [
            _("Each deal has a seal, fixed before the first card: the SHA-256 of a secret of 32 random bytes."),
            _("The pack is shuffled from that secret alone. After that it can’t be changed, not even by us."),
            _("The group’s board has the seal, and “Is it fair?” later the secret: its SHA-256 must be the seal."),
            _("The bot’s host can export every game, and anyone can check it: buongioco verify FILE."),
        ]
        return RulesText(_("Is the shuffle fair?"), fairness)
    ranking = [(f"{rank}D", _card_worth(f"{rank}D", unit)) for rank in RANKS]
    counting = counting_line(Wording(language, (), faces), unit)
    return RulesText(
        _("Common to all Tressette games"), _common_rules(language, faces, unit), ranking, counting=counting
    )


def has_common_rules(subject: str) -> bool:
    """Return whether this is the id of a Tressette game, which shares the common rules."""
    return subject in GAMES and GAMES[subject].is_tressette


def _common_rules(language: str, faces: str, unit: int) -> list[str]:
    words = Wording(language, (), faces)
    _ = words.text
    order = [
        _("High to low: 3 2 A R C F 7 6 5 4. R is the king (re), C the knight (cavallo), F the jack (fante)."),
        _("With French suits (/settings), R, C and F are K, Q and J."),
    ]
    if faces == "french":
        order = [_("High to low: 3 2 A K Q J 7 6 5 4.")]
    return [
        _(
            "A trick is one card from each player. One player leads: plays the first card. The others play the same "
            "suit if they have it. If not, they can play any card."
        ),
        _("The highest card of the suit led takes the trick, and its player leads the next."),
        _("Forty cards in four suits: {suits}. There are no trumps.").format(suits=suit_list(words)),
        *order,
        counting_line(words, unit),
        _("A deal is worth {points} points, plus declarations.").format(points=11 * unit),
        _(
            "Declarations (buongiochi): four 3s, four 2s or four aces: {four} points; three of them: {three} points, "
            "and you name the missing suit; the napoletana (3, 2 and A of one suit): {three} points."
        ).format(four=4 * unit, three=3 * unit),
        _(
            "Each player declares each rank once in a deal, and each suit’s napoletana once (Metà Mazzo is different). "
            "With four of a rank you declare the four, not three of them. A card can serve in several declarations. "
            "Declared cards are shown to everyone. Declare in time, or the points are lost."
        ),
        _("When a side has reached the target after a deal, the higher total wins. Equal totals play on."),
    ]


def counting_line(words: Wording, unit: int) -> str:
    """Return how points count at Tressette, during a deal and at its end, in the ``unit`` of a game."""
    _ = words.text
    sentence = _(
        "An ace counts 1 point; {thirds} a third each; the last trick 1. During a deal points have thirds, such as 5⅔. "
        "At its end thirds left over are lost: 5⅔ becomes 5."
    )
    if unit > 1:
        sentence = _(
            "An ace counts 3 points; {thirds} 1 each; the last trick 3. At the end of a deal leftovers of three are "
            "lost: 17 becomes 15."
        )
    return sentence.format(thirds=_third_ranks(words.language, words.faces))


def suit_list(words: Wording) -> str:
    """Return the suits of forty cards: signs and names."""
    return ", ".join(f"{words.faces.sign(letter)} {words.suits[letter]}" for letter in ITALIAN.suits)


@cache
def _third_ranks(language: str, faces: CardFaces) -> str:
    """Return the ranks worth a third of an ace, such as "3, 2, R, C and F"."""
    *ranks, last_rank = (faces.rank(rank) for rank in RANKS if _card_worth(f"{rank}D") == "1/3")
    return texts(language).gettext(" and ").join((", ".join(ranks), last_rank))


def _ranking_line(language: str, kind: GameKind, faces: str) -> str:
    words = Wording(language, (), faces_of(kind, faces))
    _ = words.text
    order = _("High to low: {ranks}.").format(ranks=_ranks_from_high(words, kind))
    return f"{order} {points_line(words, kind)}".rstrip()


def order_lines(words: Wording, kind: GameKind) -> tuple[str, str]:
    """Return the order of the cards, and which card a player must play, for a newcomer."""
    _ = words.text
    order = _("High to low: {ranks}").format(ranks=_ranks_from_high(words, kind))
    if kind.trump:
        return order, _("Follow suit if you can. Spades beat all other suits.")
    return order, _("Follow the suit of the first card if you can.")


def _ranks_from_high(words: Wording, kind: GameKind) -> str:
    return " ".join(map(words.faces.rank, reversed(kind.pack.ranks)))


def points_line(words: Wording, kind: GameKind) -> str:
    """Return the points of the cards of a Tressette game; empty in other games."""
    _ = words.text
    if not kind.is_tressette:
        return ""
    sentence = _("An ace is worth 1 point; {thirds} a third each.")
    if score_unit_of(kind.id) > 1:
        sentence = _("An ace is worth 3 points; {thirds} 1 each; the last trick 3.")
    return sentence.format(thirds=_third_ranks(words.language, words.faces))


def _game_rules(language: str, faces: str) -> dict[str, list[str]]:
    words = Wording(language, (), faces)
    _, coins = words.text, words.suits["D"]
    packets = [
        _("Eight packets of five. The first player takes four, the other player the rest. You take turns to be first."),
        _("Each chooses two packets as a hand; the other two lie open, the top card of each in sight."),
        _("Play from your hand or from the top of your packets; both count for following suit."),
        _("At your turn you can pick up a 3, 2 or A from the top of your own packet into your hand."),
        _(
            "Twenty tricks; the player who took packets first leads. You declare before you play: at your first turn "
            "any combination in your hand, later only those completed by a card just picked up. Cards on packets "
            "do not count."
        ),
    ]
    return {
        "pizzichino": [
            *packets,
            _(
                "To 51 (or 21, 31, 41). When you open a table you can choose to peek at packets or to declare in "
                "other ways."
            ),
        ],
        "spizzichino": [*packets, _("To 51; packets are chosen blind. It has no options.")],
        "metamazzo": [
            _("Ten cards each, twenty in the stock. Chance decides who leads the first deal. Then you take turns."),
            _("After each trick both draw a card, the winner first, and show it."),
            _("With the stock gone you play on: twenty tricks in all."),
            _(
                "At your first turn you can declare any combination in your hand. After a draw "
                "you can declare those the new card completes, until you next play."
            ),
            _(
                "You can declare 3s, 2s or aces again when you draw the missing one. Example: you declare three aces, "
                "3 points, and later draw the fourth ace. Declare all four: 4 more points. If you have played an ace "
                "by then, declare three aces again: 3 more points."
            ),
            _("To 51 (or 21, 31, 41). More choices when you open a table."),
        ],
        "testa": [
            _(
                "Ten cards each, twenty in the stock. After each trick both draw a card and show it; with the stock "
                "gone you play on."
            ),
            _(
                "The holder of the 4 of {coins} leads the first deal. If it’s in the stock, chance decides. Then you "
                "take turns."
            ).format(coins=coins),
            _(
                "At your turn in the first four tricks, before you play, you can declare anything you hold; each "
                "rank and suit counts once. To 21 (or 11, 31). More choices when you open a table."
            ),
        ],
        "tressette": [
            _("Four players, two against two, partners opposite. Ten cards each, ten tricks."),
            _("Chance decides who leads the first deal. Then each deal the next player leads."),
            _(
                "When you lead, you can say busso (play your highest and come back) or volo (my last card of "
                "this suit)."
            ),
            _("Of robots, only the strong ones answer busso."),
            _("Striscio (I have more of this suit) is not used: here you say only busso and volo."),
            _(
                "Declare between the first trick and your second card, even out of turn: anything you were dealt. "
                "The card already played counts."
            ),
            _(
                "At any time you can claim to have reached the target. In a deal that breaks a tie you must also be "
                "ahead. A wrong claim costs nothing."
            ),
            _(
                "Points are counted three for one, declarations too (9 or 12): 63 wins (21 × 3), or 93 (31 × 3). "
                "More choices when you open a table."
            ),
        ],
        "tavolo": [
            _("Four players, two against two, ten cards each, ten tricks."),
            _("The first player on a side chooses the partner, with three refusals at most."),
            _("The holder of the 4 of {coins} leads the first deal; then each deal the next player.").format(
                coins=coins
            ),
            _(
                "No signals, and you can’t claim the game. You can declare at any turn, before you play. "
                "To 21 (or 11, 31). More choices when you open a table."
            ),
        ],
        "spades": [
            _(
                "Nobody deals. The first player draws a card: keep it and the next is thrown away unseen, or throw "
                "it away and keep the next. Then the second, in turns, to 13 each."
            ),
            _("Bid how many tricks you will take; 0 is nil."),
            _(
                "Double nil: before your first draw. After the draft you can exchange up to three cards for random "
                "discards, and you don’t bid."
            ),
            _(
                "The second player bids first and leads, then the winner of each trick. In the next deal the second "
                "player goes first."
            ),
            _("Follow suit if you can. The highest spade takes the trick, or else the highest card of the suit led."),
            _("You can’t lead a spade until one has been played, unless you have only spades."),
            _(SPADES_COUNTING),
            _(
                "Each trick over is a bag, after a failed nil too (unless set otherwise). Every tenth "
                "bag costs 100. With 500 points (or 200, 300) after a deal the higher total "
                "wins; equal totals play on."
            ),
        ],
    }
