"""What the feature that opened a table decides about it.

A table carries the name of that feature (`bot.tables.table.Table.feature`). The core asks the feature's policy what
differs from an ordinary table. It never asks which feature it is.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bot.panel import Panel
from bot.panels.board import duplicate_panel
from bot.tables.snapshot import USUAL, OwnTexts, TableSnapshot, snapshot
from bot.tables.table import Table
from engine.robots.findings import Summary


class Outcome(NamedTuple):
    """The outcome of a finished game.

    ``game_id`` is its id in the archive. ``changes`` are people's ratings before and after, by name. ``ended`` is in
    Unix seconds, 0 if it is not known. ``summaries`` say how well each seat played, once that is known. ``unrated`` is
    the reason why nobody's rating rises (a key of `bot.panels.board.UNRATED`), empty if one does. ``details`` is the
    policy's own: what its result panel needs.
    """

    game_id: str
    changes: Sequence[tuple[str, int, int]]
    ended: int = 0
    summaries: Sequence[Summary] = ()
    unrated: str = ""
    details: Any = None


class TablePolicy:
    """The policy of an ordinary table, which friends opened. A feature overrides what is different at its tables."""

    own_texts: OwnTexts = USUAL
    """What hands say differently at such a table."""

    results_path = ""
    """The path of the site's page with everybody's results at such a table; empty if there is none."""

    async def finish(self, table: Table) -> Outcome | None:
        """Store a finished game and return its outcome; None to archive and rate it as usual. Twice is once."""
        return None

    async def on_archived(self, table: Table, game: Any) -> None:
        """Note a game that was archived and rated as usual (`bot.finished.game.FinishedGame`). Twice is once."""

    async def decline(self, table: Table, person: str, update: str) -> bool:
        """Decline to sit down for a person, if that is different here; return whether it was."""
        return False

    async def before_removal(self, table: Table) -> None:
        """Do what depends on a table before it is removed: it is over, or no game came of it."""

    def card_panel(self, table: Table, seen: TableSnapshot, reader: str, language: str) -> Panel | None:
        """Return what a reader sees while the table waits for players; None for the usual challenge card."""
        return None

    def result_panel(self, table: Table, outcome: Outcome, language: str) -> Panel | None:
        """Return the result of a finished game; None for the usual result. A duplicate's cards stay hidden."""
        return duplicate_panel(snapshot(table, None), language) if table.is_duplicate else None

    async def outcome_for(self, table: Table, person: str) -> Outcome | None:
        """Return what a person's own page tells of a table's outcome; None if nothing is different here."""
        return None

    def outcome_note(self, outcome: Outcome, language: str) -> str:
        """Return a sentence about an outcome for a person's own page; empty for none."""
        return ""

    def robot_seed(self, table: Table) -> int | None:
        """Return the seed of the robots' next move at this table, so that all play alike; None for chance."""
        return None


ORDINARY = TablePolicy()


class Policies(dict[str, TablePolicy]):
    """The policies of all features, by the feature's name."""

    def policy_of(self, table: Table) -> TablePolicy:
        """Return the policy of a table."""
        return self.get(table.feature, ORDINARY)
