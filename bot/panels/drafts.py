"""Drafts: half-made choices that need several presses, and their stored text."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.actions import BadPayload, parse_number
from bot.tables.errors import OldPanel


@dataclass(frozen=True, slots=True)
class Draft:
    """A half-made choice for one decision.

    ``version`` is the version of the hand's panel at the beginning, 0 on a challenge card. ``choice`` is one word: a
    signal, ``resign``, numbers of packets (``135``), cards with commas (``2C,3D``), or the open menu of a card; empty
    if nothing is chosen.
    """

    version: int = 0
    choice: str = ""

    def choice_at(self, version: int) -> str:
        """Return the choice if it is for this version, otherwise an empty string."""
        return self.choice if self.version == version else ""


NO_DRAFT = Draft()


def parse_draft(words: Sequence[str], version: int) -> Draft:
    """Parse the words of a button: a version and a choice. Raise OldPanel unless the version is the current one."""
    if parse_number(words) != version:
        raise OldPanel()
    draft = Draft(version, *words[1:2])
    # A button never names a card twice.
    cards = draft.choice.split(",")
    if len(words) > 2 or len(set(cards)) < len(cards):
        raise BadPayload()
    return draft


def encode_draft(draft: Draft) -> str:
    """Return ``<version> <choice>``, the version alone if nothing is chosen, or an empty string for no draft."""
    return f"{draft.version} {draft.choice}" if draft.choice else str(draft.version or "")


def decode_draft(text: str) -> Draft:
    """Parse a stored draft; raise ValueError if it does not begin with a version."""
    version, _, choice = text.partition(" ")
    return Draft(int(version or 0), choice)
