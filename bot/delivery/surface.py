"""The state machine of one surface of a table."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from bot.delivery.message_state import UNKNOWN, MessageState, Outdated, State
from bot.delivery.names import SurfaceName
from bot.panel import Panel
from bot.panels.drafts import Draft, decode_draft, encode_draft
from bot.platform import SentMessage, is_ephemeral, is_private, is_same_place

OUT_OF_REACH = (State.DROPPED.value, State.UNREACHABLE.value)


class Change(NamedTuple):
    """What a person did with a surface: pressed it, chose part of a move, or asked for a new message.

    ``pressed`` is the message. ``draft`` is the part of a move (None keeps the current one). ``repost`` asks for a new
    message. ``place`` is the private chat or ephemeral place where the surface is wanted from now on. ``genuine`` means
    that the platform vouches for the pressed message (`bot.platform.Press`); otherwise the message is only trusted if
    it is known. A change ``if_waiting`` only affects a surface that could not be shown.
    """

    pressed: str = ""
    draft: Draft | None = None
    repost: bool = False
    place: str = ""
    genuine: bool = False
    if_waiting: bool = False


def encode_change(change: Change) -> list[Any]:
    """Return a change as JSON values, for the worker that delivers the table."""
    pressed, draft, *rest, if_waiting = change
    # A worker of an older release does not know the last field.
    return [pressed, None if draft is None else encode_draft(draft), *rest, *([True] if if_waiting else [])]


def decode_change(fields: Sequence[Any]) -> Change:
    """Parse another worker's change. Raise ValueError if its draft is invalid."""
    pressed, draft, *rest = fields
    return Change(pressed, None if draft is None else decode_draft(draft), *rest)


class Send(NamedTuple):
    """Send a message, because there is none."""

    panel: Panel
    urgency: int


class Edit(NamedTuple):
    """Edit the current message."""

    sent: SentMessage
    panel: Panel
    urgency: int


class Replace(NamedTuple):
    """Send a new message and outdate the current one, on request or so that the phone rings."""

    panel: Panel
    urgency: int


class Delete(NamedTuple):
    """Delete an outdated message."""

    outdated: Outdated


Step = Send | Edit | Replace | Delete


class Attempt(NamedTuple):
    """A message being sent: its number, its digest, the tag of its place, and what was sent before under its key."""

    number: int
    digest: str
    place_tag: str
    tried: str | None


class Surface:
    """The state machine of one surface. Only its own methods change it, and none of them blocks.

    ``inherited`` means that an earlier process may have sent a message that it did not record.
    """

    __slots__ = (
        "_drawn",
        "_drawn_for",
        "_is_certain",
        "_is_used",
        "_known",
        "_repost",
        "_saved",
        "_tried",
        "_woken",
        "final_message",
        "late_uploads",
        "name",
        "task",
    )

    def __init__(self, name: SurfaceName, stored: MessageState | None = None, *, inherited: bool = False) -> None:
        self.name = name
        self.task: asyncio.Task[None] | None = None
        self.final_message: SentMessage | None = None
        """The message that was left there when what it shows would not change any more."""
        self.late_uploads: list[tuple[str, asyncio.Future[str]]] = []
        """Messages that may come to stand there though their text went by itself: where, and what they are called."""
        self._known = stored or MessageState()
        self._saved = stored
        # Edits are written down a moment later, and the last one may be lost in a crash.
        self._is_certain = stored is None
        self._repost = False
        self._is_used = False
        # The digest of what may have been sent under the key of the next message; None if nothing was.
        self._tried: str | None = UNKNOWN if inherited else None
        self._drawn_for: object = None
        self._drawn: Panel | None = None
        self._woken: asyncio.Event | None = None

    @property
    def known(self) -> MessageState:
        return self._known

    @property
    def state(self) -> State:
        return self._known.state

    @property
    def is_syncing(self) -> bool:
        """Whether a task is updating it."""
        return self.task is not None and not self.task.done()

    @property
    def is_out_of_reach(self) -> bool:
        """Whether nothing is sent there for now."""
        return self._known.halted in OUT_OF_REACH

    @property
    def wants_repost(self) -> bool:
        return self._repost

    @property
    def is_used(self) -> bool:
        """Whether a person used this surface since the last call to the platform began."""
        return self._is_used

    # What is to be done

    def is_up_to_date(self, panel: Panel) -> bool:
        """Whether the surface shows this panel and nothing is left to do."""
        return self._known.digest == panel.digest and not self._known.outdated and not self._repost

    def next_deletion(self) -> Delete | None:
        """The oldest outdated message, once a newer one is there. It is deleted first."""
        known = self._known
        return Delete(known.outdated[0]) if known.outdated and known.message else None

    def next_step(self, panel: Panel, urgency: int, *, rings: bool) -> Step | None:
        """Return the next step to show this panel; ``rings`` asks for a new message."""
        if self._repost or rings:
            return Replace(panel, urgency)
        if not self._known.message:
            return Send(panel, urgency)
        if self._known.digest == panel.digest:
            return None
        return Edit(SentMessage(self._known.message, self._known.picture, self._is_certain), panel, urgency)

    # What people do

    def set_place_tag(self, place_tag: str) -> None:
        """Reset the state if the surface belongs to another place, because another person took the chair or the chat
        moved.
        """
        if self._known.place_tag != place_tag:
            self._known = MessageState(place_tag=place_tag)

    def record_press(self, change: Change, home: str, now: int) -> bool:
        """Record a press on the current message, which changes nothing else. Return False for any other change."""
        known = self._known
        if change.draft is not None or change.repost or not change.pressed:
            return False
        if known.halted or known.message != change.pressed:
            return False
        if change.place and not is_same_place(known.ephemeral or home, change.place):
            return False
        ephemeral = change.place if is_ephemeral(change.place) else known.ephemeral
        self._is_used = True
        # Each press comes by here, and `_replace` takes five times as long.
        self._known = MessageState(*known[:4], now, *known[5:9], ephemeral, known.picture)
        if ephemeral != known.ephemeral:
            # What waits for leave to send there has it now.
            self.wake()
        return True

    def apply(self, change: Change, home: str, now: int) -> None:
        """Apply a change. ``home`` is where the surface belongs, ``now`` is in Unix seconds."""
        self._is_used = self._is_used or bool(change.pressed or change.place or change.repost)
        if change.if_waiting and not self.is_out_of_reach:
            return
        known, pressed, place = self._known, change.pressed, change.place
        is_back = (pressed or place) and known.state in (State.UNREACHABLE, State.DROPPED)
        if pressed and not change.genuine and not self._has_shown(pressed, home, place):
            # The press is forged, or the platform no longer knows the message: it may be any message.
            pressed = place = ""
        if place:
            known = _move_state(known, home, place, pressed)
        if pressed and known.state is State.DONE:
            # A finished surface has no buttons, so this message was doubled by a crash.
            known = known._replace(halted="", message=pressed, digest=UNKNOWN, picture="")
        if pressed and known.message not in ("", pressed) and Outdated(pressed) not in known.outdated:
            # A message doubled by a crash, or an older one that could not be deleted.
            known = known._replace(outdated=(*known.outdated, Outdated(pressed)))
        self._known = known._replace(
            seen_at=now if pressed else known.seen_at,
            draft=known.draft if change.draft is None else change.draft,
            halted="" if change.repost or is_back else known.halted,
        )
        self._repost = self._repost or change.repost

    def _has_shown(self, message: str, home: str, place: str) -> bool:
        """Return whether a message is known to show the surface now or earlier."""
        known = self._known
        if not place or is_same_place(known.ephemeral or home, place):
            return message == known.message or Outdated(message) in known.outdated
        return any(one.message == message and is_same_place(one.place, place) for one in known.outdated)

    def wait_for_press(self) -> None:
        """Wait for the person's press, which an ephemeral message needs."""
        self._known = self._known._replace(halted=State.UNREACHABLE.value)

    # What comes of sending, editing and taking away

    def begin_call(self) -> None:
        """Note that a call to the platform begins. A refusal says nothing about what people do after this."""
        self._is_used = False

    def outdate(self) -> None:
        """Note that a new message must replace the current one, if there is one.

        Write this before you send the new one. A crash in between then sends it again with the same key.
        """
        known = self._known
        if known.message:
            outdated = (*known.outdated, Outdated(known.message))
            self._known = known._replace(message="", digest=UNKNOWN, outdated=outdated, picture="")

    def restore_message(self, sent: SentMessage) -> None:
        """Make an outdated message current again, because no new one can be sent. It shows something older."""
        left = tuple(one for one in self._known.outdated if one != Outdated(sent.message))
        self._is_certain = False
        self._known = self._known._replace(message=sent.message, digest=UNKNOWN, picture=sent.picture, outdated=left)

    def begin_send(self, digest: str) -> Attempt:
        """Begin to send a message. It may have arrived until `finish_send` or `cancel_send`.

        A platform that knows the key keeps the first panel sent under it. If that was another panel, the message's
        content is unknown, and an edit follows.
        """
        self._repost = False
        before, self._tried = self._tried, digest if self._tried in (None, digest) else UNKNOWN
        return Attempt(self._known.sent + 1, self._tried, self._known.place_tag, before)

    def cancel_send(self, attempt: Attempt) -> None:
        """Note that the platform took no message."""
        self._tried = attempt.tried

    def finish_send(self, attempt: Attempt, place: str, sent: SentMessage, urgency: int, now: int) -> bool:
        """Note a sent message. Return whether the surface still belongs to that place.

        Save this at once: only a crash before that can double the message.
        """
        self._tried = None
        known = self._known
        ephemeral = place if is_ephemeral(place) else ""
        if known.place_tag != attempt.place_tag or not is_same_place(known.ephemeral, ephemeral):
            outdated = (*known.outdated, Outdated(sent.message, place))
            self._known = known._replace(sent=attempt.number, outdated=outdated)
            return False
        self._is_certain = True
        self._known = known._replace(
            message=sent.message,
            digest=attempt.digest,
            sent=attempt.number,
            seen_at=now,
            urgency=urgency,
            picture=sent.picture,
        )
        return True

    def begin_edit(self) -> None:
        """Begin to edit the message. Its content is unknown until `finish_edit`."""
        self._is_certain = False
        # Each press comes by here, and `_replace` takes five times as long.
        self._known = MessageState(self._known.message, UNKNOWN, *self._known[2:])

    def finish_edit(self, sent: SentMessage, digest: str, urgency: int) -> None:
        """Note an edited message, unless another one is current by now."""
        known = self._known
        if known.message == sent.message:
            self._is_certain = True
            # Each press comes by here, and `_replace` takes five times as long.
            self._known = MessageState(sent.message, digest, *known[2:6], urgency, *known[7:10], sent.picture)

    def mark_uncertain(self) -> None:
        """Note that the message may still change to something older and must be edited again."""
        self._is_certain = False
        self._known = self._known._replace(digest=UNKNOWN)

    def forget_message(self, message: str) -> None:
        """Note that a message is gone or cannot be edited."""
        if self._known.message == message:
            self._known = self._known._replace(message="", digest=UNKNOWN, picture="")

    def add_late_message(self, message: str, place: str, home: str) -> None:
        """Outdate a message that arrived after its text was sent alone. Save this at once."""
        is_here = is_same_place(self._known.ephemeral or home, place)
        outdated = (*self._known.outdated, Outdated(message, "" if is_here else place))
        self._known = self._known._replace(outdated=outdated)

    def remove_outdated(self, outdated: Outdated) -> None:
        """Note that an outdated message was deleted, wherever it is listed now."""
        left = list(self._known.outdated)
        for one in left:
            if one.message == outdated.message:
                left.remove(one)
                break
        self._known = self._known._replace(outdated=tuple(left))

    def give_up(self, place: str) -> State:
        """Note that nothing can be shown at a place, and return the new state. A hand in a group returns to the private
        chat.
        """
        halted, outdated = "", self._known.outdated
        if is_ephemeral(place):
            # Their numbers belong to the old place.
            outdated = tuple(one if one.place else Outdated(one.message, place) for one in outdated)
        else:
            halted = (State.UNREACHABLE if is_private(place) else State.DROPPED).value
        self._known = self._known._replace(
            halted=halted, message="", digest=UNKNOWN, ephemeral="", outdated=outdated, picture=""
        )
        self._repost = False
        return self.state

    def finish(self) -> None:
        """Note that its content is final."""
        if self._known.message:
            self.final_message = SentMessage(self._known.message, self._known.picture, self._is_certain)
        self._known = MessageState(place_tag=self._known.place_tag, halted=State.DONE.value)

    # While it waits for its turn, or before something is tried again

    @contextmanager
    def pause(self) -> Iterator[asyncio.Event]:
        """Yield an event that is set when there may be something else to do."""
        self._woken = asyncio.Event()
        try:
            yield self._woken
        finally:
            self._woken = None

    def wake(self) -> None:
        """Set the event of `pause`."""
        if self._woken:
            self._woken.set()

    # What is kept

    def cached_panel(self, key: object) -> Panel | None:
        """Return the last drawn panel if it has this key."""
        return self._drawn if self._drawn_for == key else None

    def cache_panel(self, key: object, panel: Panel | None) -> None:
        self._drawn_for, self._drawn = key, panel

    def take_unsaved(self) -> MessageState | None:
        """Return the state to save, or None. It counts as saved from now on."""
        if self._saved == self._known:
            return None
        self._saved = self._known
        return self._known

    def forget_saved(self) -> None:
        """Note that the last save may be lost."""
        self._saved = None


def _move_state(known: MessageState, home: str, place: str, pressed: str) -> MessageState:
    """Return the state after the surface moved to its home, a private chat or an ephemeral place.

    ``pressed`` is the message already there, if any. The messages at the old place are outdated.
    """
    before = known.ephemeral or home
    ephemeral = place if is_ephemeral(place) else ""
    if is_same_place(before, place):
        return known._replace(ephemeral=ephemeral)
    older = (*known.outdated, *([Outdated(known.message)] if known.message else ()))
    outdated = tuple(one if one.place else Outdated(one.message, before) for one in older)
    return known._replace(ephemeral=ephemeral, message=pressed, digest=UNKNOWN, outdated=outdated, picture="")
