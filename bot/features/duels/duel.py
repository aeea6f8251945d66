"""A duel and its score."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import inf
from typing import Any, Literal, NamedTuple

from bot.identity.pseudonyms import is_pseudonym
from bot.platform import platform_of
from bot.solo_deals.results import SoloResult
from bot.tables.chairs import Invited

DEALS = 5
DAYS = 7  # time to accept a duel, and then to play it
DAY = 86400
SIDES = (0, 1)  # the challenger and the opponent

Closing = Literal["", "done", "time", "left", "declined", "cancelled"]
"""Why a duel is over: both have finished, its time is up, a player was forgotten or banned, or it was refused or
withdrawn. Empty while it is open.
"""


class Player(NamedTuple):
    """``person`` is ``platform:id`` or a pseudonym."""

    person: str
    name: str


class Played(NamedTuple):
    result: SoloResult
    game: str  # id in the archive; empty if the table with the cards was lost


class Score(NamedTuple):
    """Deals won by each side, and the sums of their margins in the deals that both finished."""

    wins: tuple[int, int]
    margins: tuple[int, int]

    @property
    def winner(self) -> int | None:
        """The side that won more deals. If both won as many, the higher sum of margins decides; None for a draw."""
        (score, other_score) = (self.wins[0], self.margins[0]), (self.wins[1], self.margins[1])
        return None if score == other_score else int(score < other_score)

    def text(self, first: int = 0) -> str:
        """Return the numbers of deals won, such as 3–1. ``first`` is the side whose number comes first."""
        return f"{self.wins[first]}–{self.wins[1 - first]}"


@dataclass(frozen=True)
class Duel:
    """A duel. Times are in Unix seconds. ``place`` is the group where it was opened, otherwise empty."""

    code: str
    game: str
    root: bytes  # the deals' secrets are derived from it
    opened_at: int
    players: tuple[Player, ...]  # the challenger, and the opponent once there is one
    place: str = ""
    invited: Invited | None = None
    accepted_at: int = 0
    played_deals: Mapping[tuple[int, int], Played] = field(default_factory=dict)  # by side and deal
    begun_at: Mapping[tuple[int, int], int] = field(default_factory=dict)  # when a side got a deal's cards
    closing: Closing = ""
    is_ended: bool = False  # whether the loop has handled the closing
    rematch: str = ""  # code of the next duel between the two
    match: str = ""  # code of the match of two groups to which it belongs

    def secret(self, deal: int) -> bytes:
        """Return a deal's secret. It reveals neither the root nor the other deals."""
        return sha256(self.root + b"deal" + bytes([deal])).digest()

    @property
    def ends(self) -> int:
        return (self.accepted_at or self.opened_at) + DAYS * DAY

    @property
    def is_accepted(self) -> bool:
        return len(self.players) == len(SIDES)

    @property
    def has_result(self) -> bool:
        """True if the duel ended after an opponent had accepted it."""
        return bool(self.closing) and self.is_accepted

    @property
    def can_rematch(self) -> bool:
        return self.has_result and not any(is_pseudonym(player.person) for player in self.players)

    def is_listed_for(self, person: str) -> bool:
        """Return whether a person's list shows the duel.

        Players always see it. A notified invited person sees it until it is accepted or closed.
        """
        if self.side_of(person) is not None:
            return True
        if self.invited is None or self.closing or self.is_accepted:
            return False
        return self.invited.person == person and self.invited.is_notified

    def challenges(self, invited: Invited) -> bool:
        """Return whether the duel is a challenge to this person that was not accepted."""
        own_invitation = self.invited
        if own_invitation is None or self.is_accepted:
            return False
        if invited.person or own_invitation.person:
            return own_invitation.person == invited.person
        return own_invitation.handle.lower() == invited.handle.lower()

    def side_of(self, person: str) -> int | None:
        return next((side for side, player in enumerate(self.players) if player.person == person), None)

    def invites(self, person: str, handle: str) -> bool:
        """Return whether the duel is for this person: it is open to all, or challenges this person."""
        is_on_platform = platform_of(person) == platform_of(self.players[0].person)
        return self.invited is None or self.is_invited(person, handle if is_on_platform else "")

    def is_invited(self, person: str, handle: str) -> bool:
        """Return whether the invitation names a person. ``handle`` is theirs on the duel's platform."""
        if self.invited is None:
            return False
        if self.invited.person:
            return self.invited.person == person
        return bool(handle) and self.invited.handle.lower() == handle.lower()

    def other_player(self, person: str, handle: str = "") -> Player | None:
        """Return the other player, for a player or the invited person.

        Return None for other people, or if the other player is missing or was forgotten.
        """
        side = self.side_of(person)
        if side is None and not self.is_invited(person, handle):
            return None
        other = next((player for player in self.players if player.person != person), None)
        return None if other is None or is_pseudonym(other.person) else other

    def names(self, person: str, handle: str) -> bool:
        """Return whether a person is a player or invited."""
        return self.side_of(person) is not None or self.is_invited(person, handle)

    def count(self, side: int) -> int:
        """Return the number of deals that a side has played."""
        return sum((side, deal) in self.played_deals for deal in range(1, DEALS + 1))

    def next_deal(self, side: int) -> int | None:
        return next((deal for deal in range(1, DEALS + 1) if (side, deal) not in self.played_deals), None)

    def result(self, side: int, deal: int) -> SoloResult | None:
        played = self.played_deals.get((side, deal))
        return played.result if played else None

    def is_compared(self, deal: int) -> bool:
        """Return whether both can see a deal: both have played it, or one has and the duel is over."""
        counts = [(side, deal) in self.played_deals for side in SIDES]
        return all(counts) or (any(counts) and bool(self.closing))

    @property
    def compared_deals(self) -> list[int]:
        return [deal for deal in range(1, DEALS + 1) if self.is_compared(deal)]

    @property
    def is_finished(self) -> bool:
        return all(self.next_deal(side) is None for side in SIDES)

    def deal_winner(self, deal: int) -> int | None:
        """Return the side with the higher margin; None for a draw. Any finished deal beats an unfinished one."""
        margins = [self._margin(side, deal) for side in SIDES]
        first, second = (-inf if margin is None else margin for margin in margins)
        return None if first == second else int(first < second)

    def _margin(self, side: int, deal: int) -> int | None:
        result = self.result(side, deal)
        return result.margin if result else None

    def export(self, person: str) -> dict[str, Any]:
        """Return the duel for a person's /mydata, without the other player's results."""
        side = self.side_of(person)
        results = {deal: played for (owner, deal), played in self.played_deals.items() if owner == side}
        return {
            "code": self.code,
            "game": self.game,
            "opened": self.opened_at,
            "accepted": self.accepted_at,
            "over": self.closing,
            "side": side,
            "players": [player.name for player in self.players],
            "results": [
                {"deal": deal, **asdict(entry.result), "game": entry.game} for deal, entry in sorted(results.items())
            ],
        }

    @property
    def score(self) -> Score:
        """The score of the compared deals."""
        winners = [self.deal_winner(deal) for deal in self.compared_deals]
        first_sum, second_sum = 0, 0
        for deal in self.compared_deals:
            first, second = self._margin(0, deal), self._margin(1, deal)
            if first is not None and second is not None:
                first_sum, second_sum = first_sum + first, second_sum + second
        return Score((winners.count(0), winners.count(1)), (first_sum, second_sum))
