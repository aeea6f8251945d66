"""The data of a player's page of a table (`bot.site.hand_page`), as the page's script reads it."""

from dataclasses import dataclass, field

from bot.panel import Button, Role
from bot.pictures.scene import Light
from bot.site.deal_count import DealCount
from bot.site.deal_log import DealLog
from bot.site.game_end import GameEnd
from bot.site.seat_events import SeatEvent


@dataclass(frozen=True, slots=True)
class TapCard:
    """A card, or a packet shown by its top card.

    ``code`` is the drawn card (empty face down), ``name`` its name in words. ``press`` is the payload of a tap (empty
    for none), and ``role`` the role of its button. ``rank`` counts from the weakest rank of a suit. ``size``,
    ``label`` and ``pick``, the payload that picks up an honour, belong to packets.
    """

    code: str
    name: str = ""
    light: Light = ""
    press: str = ""
    size: int = 1
    label: str = ""
    role: Role = Role.NONE
    rank: int = 0
    pick: str = ""


@dataclass(frozen=True, slots=True)
class PageCard:
    """A played or drawn card, its name in words, and its player, ``by``.

    ``at`` counts seats from the reader's in order of play.
    """

    code: str
    name: str
    by: str
    at: int
    said: str = ""
    wins: bool = False


@dataclass(frozen=True, slots=True)
class PagePlayer:
    """A player at the table.

    ``hidden`` is how many of their cards only they know, ``shown`` are the cards that everyone knows. ``dealing`` says
    what the dealer does, and is empty for others. ``said`` is the player's last phrase while it is shown, otherwise
    empty. ``face`` is their portrait. ``away`` says that they have no page open, otherwise it is empty.
    """

    at: int
    name: str
    face: str
    is_robot: bool
    is_to_move: bool
    dealing: str
    hidden: int
    shown: tuple[TapCard, ...]
    packets: tuple[TapCard, ...]
    away: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class PageSide:
    """A side, its counts and the tricks it has won in this deal. The reader's side comes first."""

    name: str
    points: str
    notes: tuple[str, ...]
    is_to_move: bool
    tricks: int


@dataclass(frozen=True, slots=True)
class HandPage:
    """Everything that a page shows of a table to a player. Texts are in the player's language.

    ``says`` is the text that screen readers read out after a change. ``text`` has the panel's spans (text and style),
    ``rows`` all its buttons. ``extra`` has the buttons that no card or packet replaces, without those about strangers.
    ``count`` is the score of the deal that has just ended, ``end_trick`` its last trick. ``hint`` is the hint to show,
    and ``advised`` what it points to (`advised_parts`). ``legend`` explains the letters on a beginner's cards,
    and ``order`` has a line about which card is higher, and one about following suit. ``clock`` is in seconds per
    move, 0 without a clock. ``replay`` is the finished game's id. ``results`` is the address of the page with
    everyone's results, ``results_label`` its link's text, and ``rules`` the address of the game's rules. ``resign`` is
    the payload that asks whether to resign. ``by_link`` is whether anyone with the table's address can sit down.

    While a pack waits for a cut, ``seal`` is its commitment and ``pack`` the number of its cards. ``cut`` is the
    payload to which the page adds the player's text. It is empty if this player cannot cut. ``news`` says who cut the
    pack, or explains the step to a beginner.

    ``has_row`` is whether a row of buttons can come during a deal, such as busso or a declaration. ``target_about``
    explains the points that win.

    ``spoken`` has the shown texts that contain cards, with the cards in words for screen readers. ``events`` are shown
    at seats for a moment, and ``takes`` says who took the last trick. ``end`` is the end of the game, and ``log`` the
    deal's tricks and declarations. ``finished_log`` belongs to the deal of ``count``.
    """

    code: str
    phase: str
    game: str
    rules: str
    deck: str
    version: int
    says: str
    text: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Button, ...], ...]
    extra: tuple[tuple[Button, ...], ...]
    clock: int
    alarm: str
    is_mine: bool = False
    line: str = ""
    hint: str = ""
    advised: tuple[str, ...] = ()
    legend: str = ""
    order: tuple[str, ...] = ()
    target: str = ""
    deal: int = 0
    sides: tuple[PageSide, ...] = ()
    sitting: tuple[PagePlayer, ...] = ()
    trick: tuple[PageCard, ...] = ()
    last_trick: tuple[PageCard, ...] = ()
    last_title: str = ""
    stock: int = 0
    drawn: tuple[PageCard, ...] = ()
    drawn_title: str = ""
    middle: tuple[TapCard, ...] = ()
    hand: tuple[TapCard, ...] = ()
    packets: tuple[TapCard, ...] = ()
    count: DealCount | None = None
    tally_title: str = ""
    end_trick: tuple[PageCard, ...] = ()
    replay: str = ""
    results: str = ""
    results_label: str = ""
    resign: str = ""
    by_link: bool = False
    seal: str = ""
    cut: str = ""
    pack: int = 0
    news: str = ""
    has_row: bool = False
    target_about: str = ""
    spoken: dict[str, str] = field(default_factory=dict)
    events: tuple[SeatEvent, ...] = ()
    takes: str = ""
    end: GameEnd | None = None
    log: DealLog | None = None
    finished_log: DealLog | None = None

    @property
    def payloads(self) -> set[str]:
        return {button.payload for row in self.rows for button in row}
