"""Decisions of a feature about the tables that it opened.

A table has the name of that feature (`bot.tables.table.Table.feature`). The core asks the feature's policy about
everything that can differ from ordinary tables.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bot.panel import Panel
from bot.panels.board import RatingChange, duplicate_panel
from bot.tables.snapshot import DEFAULT_TEXTS, OwnTexts, TableSnapshot, take_snapshot
from bot.tables.table import Table
from engine.robots.verdicts import Summary


class Outcome(NamedTuple):
    """The outcome of a finished game.

    ``game_id`` is its id in the archive. ``ended`` is in Unix seconds, 0 if unknown. ``summaries`` say how well each
    seat played, once known. ``unrated`` is the reason why no rating rises (a key of `bot.panels.board.UNRATED`),
    otherwise empty. Only the policy reads ``details``, when it draws a result.
    """

    game_id: str
    changes: Sequence[RatingChange]
    ended: int = 0
    summaries: Sequence[Summary] = ()
    unrated: str = ""
    details: Any = None


class TablePolicy:
    """The policy of an ordinary table between friends. Features override what differs at their tables."""

    own_texts: OwnTexts = DEFAULT_TEXTS  # the hands' texts that depend on the feature

    def results_link(self, table: Table, language: str) -> tuple[str, str]:
        """Return the path and the label of the site's page with all results of a table; empty for no page."""
        return "", ""

    async def finish(self, table: Table) -> Outcome | None:
        """Store a finished game and return its outcome, or None to archive and rate it as usual. Safe to call twice."""
        return None

    async def on_archived(self, table: Table, game: Any) -> None:
        """Handle a game that was archived and rated as usual (`bot.finished.game.FinishedGame`). Safe to call twice."""

    async def decline(self, table: Table, person: str, update: str) -> bool:
        """Handle a person who declines to sit down; return False for the usual handling."""
        return False

    async def before_removal(self, table: Table) -> None:
        """Handle a table that will be removed: it is over, or its game never began."""

    def card_panel(self, table: Table, snapshot: TableSnapshot, reader: str, language: str) -> Panel | None:
        """Return the panel of a table that waits for players, or None for the usual challenge card."""
        return None

    def result_panel(self, table: Table, outcome: Outcome, language: str) -> Panel | None:
        """Return the result of a finished game, or None for the usual one. The cards of a duplicate stay hidden."""
        return duplicate_panel(take_snapshot(table, None), language) if table.is_duplicate else None

    async def outcome_for(self, table: Table, person: str) -> Outcome | None:
        """Return the outcome for a person's own page, or None for the usual one."""
        return None

    def outcome_note(self, outcome: Outcome, language: str) -> str:
        """Return a sentence about an outcome for a person's own page; empty for none."""
        return ""

    def robot_seed(self, table: Table) -> int | None:
        """Return the seed of the robots' next move, so that they play alike at all tables, or None for random moves."""
        return None


ORDINARY = TablePolicy()


class Policies(dict[str, TablePolicy]):
    """The policies of all features, by the feature's name."""

    def policy_of(self, table: Table) -> TablePolicy:
        return self.get(table.feature, ORDINARY)
