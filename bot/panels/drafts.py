"""Drafts: what somebody has chosen so far where a choice takes several presses, and its text as the store keeps it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """A choice that is half made, for one decision.

    ``version`` is that of the hand's panel on which it was begun, and 0 on a challenge card. ``choice`` is one word: a
    signal, ``resign``, packets' numbers (``135``), cards behind commas (``2C,3D``), or the menu that is open on a
    card; empty if nothing is chosen.
    """

    version: int = 0
    choice: str = ""

    def choice_at(self, version: int) -> str:
        """The choice, if it is for a decision of this version."""
        return self.choice if self.version == version else ""

    @property
    def has_duplicates(self) -> bool:
        """Whether a card is named twice, which no button does."""
        cards = self.choice.split(",")
        return len(set(cards)) < len(cards)


NO_DRAFT = Draft()


def encode_draft(draft: Draft) -> str:
    """``<version> <choice>``; the version alone if nothing is chosen, and no text at all for no draft."""
    return f"{draft.version} {draft.choice}" if draft.choice else str(draft.version or "")


def decode_draft(text: str) -> Draft:
    """The draft that a text stands for; ValueError if it does not begin with a version."""
    version, _, choice = text.partition(" ")
    return Draft(int(version or 0), choice)
