"""The state of a surface's message, as a value and as the stored text."""

from enum import StrEnum
from typing import NamedTuple

from bot.panels.drafts import NO_DRAFT, Draft, decode_draft, encode_draft

UNKNOWN = ""  # the digest of a message with unknown content


class State(StrEnum):
    """The state of a surface; docs/cardroom.md has the transitions."""

    ABSENT = "absent"  # no message: one must be sent
    SHOWN = "shown"  # a message that is edited as the table changes
    UNREACHABLE = "unreachable"  # the bot cannot write to the person until they press or ask
    DROPPED = "dropped"  # the bot cannot write to the chat until it is there again
    DONE = "done"  # final content; nothing else is stored


HALTED = {state.value: state for state in (State.UNREACHABLE, State.DROPPED, State.DONE)}


class Outdated(NamedTuple):
    """An older message to delete. ``place`` is empty if it is at the surface's place."""

    message: str
    place: str = ""


class MessageState(NamedTuple):
    """The known state of one surface's message.

    ``message`` is the current message, or empty. ``digest`` is the digest of the panel it shows. ``place_tag``
    identifies its place, because another person can take the chair. ``sent`` counts the messages sent for the surface,
    and is part of each send's key. ``seen_at`` is when it was last sent or pressed, in Unix seconds. ``halted`` is a
    `State` in which nothing is sent, or empty. ``urgency`` is described in `bot.delivery.reposts`. ``draft`` is a
    choice that takes several presses. ``ephemeral`` is the ephemeral place of a hand in a group; empty if the hand is
    in the private chat. ``picture`` is the adapter's data about the picture (`bot.platform.SentMessage`).
    """

    message: str = ""
    digest: str = UNKNOWN
    place_tag: str = ""
    sent: int = 0
    seen_at: int = 0
    halted: str = ""
    urgency: int = 0
    draft: Draft = NO_DRAFT
    outdated: tuple[Outdated, ...] = ()
    ephemeral: str = ""
    picture: str = ""

    @property
    def state(self) -> State:
        if self.halted in HALTED:
            return HALTED[self.halted]
        return State.SHOWN if self.message else State.ABSENT


def encode_state(state: MessageState) -> str:
    """Return the stored text: fields separated by tabs, without empty ones at the end.

    Outdated messages are separated by spaces. One at another place has that place and a bar in front.
    """
    current, digest, place_tag, sent, seen_at, halted, urgency, draft, outdated_messages, ephemeral, picture = state
    outdated_text = " ".join([f"{place}|{message}" if place else message for message, place in outdated_messages])
    draft_text = encode_draft(draft).replace("\t", " ")
    return (
        f"{current}\t{digest}\t{place_tag}\t{sent or ''}\t{seen_at or ''}\t{halted}\t{urgency or ''}"
        f"\t{draft_text}\t{outdated_text}\t{ephemeral}\t{picture}"
    ).rstrip("\t")


def decode_state(text: str) -> MessageState:
    """Parse a stored text. Raise ValueError if a number is invalid."""
    count = len(MessageState._fields)
    fields = (text.split("\t") + [""] * count)[:count]
    message, digest, place_tag, sent, seen_at, halted, urgency, draft, outdated_text, ephemeral, picture = fields
    outdated_parts = (text.rpartition("|") for text in outdated_text.split())
    return MessageState(
        message,
        digest,
        place_tag,
        int(sent or 0),
        int(seen_at or 0),
        halted,
        int(urgency or 0),
        decode_draft(draft),
        tuple(Outdated(message_, place) for place, _, message_ in outdated_parts),
        ephemeral,
        picture,
    )
