"""The state machine of one surface of a table: whether to send, edit, replace or delete its message."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from bot.delivery.message_state import UNKNOWN, MessageState, Outdated, State
from bot.delivery.surface_names import SurfaceName
from bot.panel import Panel
from bot.panels.drafts import Draft, decode_draft, encode_draft
from bot.platform import SentMessage, is_ephemeral, is_private, is_same_place


class Change(NamedTuple):
    """An action of a person on a surface: a press, part of a move, or a request for a new message.

    ``pressed`` is the message. ``draft`` is the part of a move (None keeps the current one). ``repost`` asks for a new
    message. ``place`` is the private chat or ephemeral place to which the surface moves. ``genuine`` means that the
    platform vouches for the pressed message (`bot.platform.Press`); otherwise the message is only trusted if it is
    known. A change ``if_waiting`` only affects a surface that could not be shown.
    """

    pressed: str = ""
    draft: Draft | None = None
    repost: bool = False
    place: str = ""
    genuine: bool = False
    if_waiting: bool = False


def encode_change(change: Change) -> list[Any]:
    """Return a change as JSON values for the table's worker."""
    pressed, draft, *other_fields, if_waiting = change
    # A worker of an older release does not know the last field.
    return [pressed, None if draft is None else encode_draft(draft), *other_fields, *([True] if if_waiting else [])]


def decode_change(fields: Sequence[Any]) -> Change:
    """Parse another worker's change. Raise ValueError if its draft is invalid."""
    pressed, draft, *other_fields = fields
    return Change(pressed, None if draft is None else decode_draft(draft), *other_fields)


class Send(NamedTuple):
    """Send a first message."""

    panel: Panel
    urgency: int


class Edit(NamedTuple):
    """Edit the current message."""

    sent: SentMessage
    panel: Panel
    urgency: int


class Replace(NamedTuple):
    """Send a new message, on request or so that the phone rings. The current one becomes outdated."""

    panel: Panel
    urgency: int


class Delete(NamedTuple):
    """Delete an outdated message."""

    outdated: Outdated


Step = Send | Edit | Replace | Delete


class Attempt(NamedTuple):
    """A message being sent. ``tried`` is the digest to restore in `Surface` if the platform refuses the message."""

    number: int
    digest: str
    place_tag: str
    tried: str | None


class Surface:
    """The state machine of one surface. Only its own methods change it, and they never block.

    ``inherited`` means that an earlier process might have sent a message that it did not record.
    """

    __slots__ = (
        "_drawn",
        "_drawn_for",
        "_is_certain",
        "_saved",
        "_tried",
        "_woken",
        "final_message",
        "is_used",
        "late_uploads",
        "message_state",
        "name",
        "task",
        "wants_repost",
    )

    def __init__(self, name: SurfaceName, stored_state: MessageState | None = None, *, inherited: bool = False) -> None:
        self.name = name
        self.task: asyncio.Task[None] | None = None
        self.final_message: SentMessage | None = None  # the last message, once its content is final
        # Places and future ids of messages that can still arrive, after their text was sent alone.
        self.late_uploads: list[tuple[str, asyncio.Future[str]]] = []
        self.message_state = stored_state or MessageState()
        self.wants_repost = False
        self.is_used = False  # whether a person has used the surface since the last call to the platform began
        self._saved = stored_state
        # Edits are saved a moment later, so a crash can lose the last one.
        self._is_certain = stored_state is None
        # Digest of a panel that might already have been sent with the next key; None if no send is unanswered.
        self._tried: str | None = UNKNOWN if inherited else None
        self._drawn_for: object = None
        self._drawn: Panel | None = None
        self._woken: asyncio.Event | None = None

    @property
    def state(self) -> State:
        return self.message_state.state

    @property
    def is_syncing(self) -> bool:
        return self.task is not None and not self.task.done()

    @property
    def is_out_of_reach(self) -> bool:
        return self.state in (State.DROPPED, State.UNREACHABLE)

    # Decisions

    def is_up_to_date(self, panel: Panel) -> bool:
        """Return whether the surface shows this panel and nothing is left to do."""
        return self.message_state.digest == panel.digest and not self.message_state.outdated and not self.wants_repost

    def next_deletion(self) -> Delete | None:
        """Return the deletion of the oldest outdated message; None while no newer message exists."""
        state = self.message_state
        return Delete(state.outdated[0]) if state.outdated and state.message else None

    def next_step(self, panel: Panel, urgency: int, *, rings: bool) -> Step | None:
        """Return the next step to show this panel; ``rings`` asks for a new message."""
        if self.wants_repost or rings:
            return Replace(panel, urgency)
        if not self.message_state.message:
            return Send(panel, urgency)
        if self.message_state.digest == panel.digest:
            return None
        return Edit(
            SentMessage(self.message_state.message, self.message_state.picture, self._is_certain), panel, urgency
        )

    # Actions of people

    def set_place_tag(self, place_tag: str) -> None:
        """Reset the state if the place has changed, because another person took the chair or the chat's id changed."""
        if self.message_state.place_tag != place_tag:
            self.message_state = MessageState(place_tag=place_tag)

    def record_press(self, change: Change, home: str, now: int) -> bool:
        """Record a press on the current message that changes nothing else. For any other change, only return False."""
        state = self.message_state
        if change.draft is not None or change.repost or not change.pressed:
            return False
        if state.halted or state.message != change.pressed:
            return False
        if change.place and not is_same_place(state.ephemeral or home, change.place):
            return False
        ephemeral = change.place if is_ephemeral(change.place) else state.ephemeral
        self.is_used = True
        self.message_state = state._replace(seen_at=now, ephemeral=ephemeral)
        if ephemeral != state.ephemeral:
            # A send that waited for this press is allowed now.
            self.wake()
        return True

    def apply(self, change: Change, home: str, now: int) -> None:
        """Apply a change. ``home`` is the surface's own place, ``now`` is in Unix seconds."""
        self.is_used = self.is_used or bool(change.pressed or change.place or change.repost)
        if change.if_waiting and not self.is_out_of_reach:
            return
        state, pressed, place = self.message_state, change.pressed, change.place
        is_back = (pressed or place) and self.is_out_of_reach
        if pressed and not change.genuine and not self._has_shown(pressed, home, place):
            # The press can be forged, or the platform has forgotten the message.
            pressed = place = ""
        if place:
            state = _move_state(state, home, place, pressed)
        if pressed and state.state is State.DONE:
            # A finished surface has no buttons, so a crash sent this message twice.
            state = state._replace(halted="", message=pressed, digest=UNKNOWN, picture="")
        if pressed and state.message not in ("", pressed) and Outdated(pressed) not in state.outdated:
            # A crash sent this message twice, or it is older and could not be deleted.
            state = state._replace(outdated=(*state.outdated, Outdated(pressed)))
        self.message_state = state._replace(
            seen_at=now if pressed else state.seen_at,
            draft=state.draft if change.draft is None else change.draft,
            halted="" if change.repost or is_back else state.halted,
        )
        self.wants_repost = self.wants_repost or change.repost

    def _has_shown(self, message: str, home: str, place: str) -> bool:
        """Return whether a message is known to have shown the surface, now or earlier."""
        state = self.message_state
        if not place or is_same_place(state.ephemeral or home, place):
            return message == state.message or Outdated(message) in state.outdated
        return any(older.message == message and is_same_place(older.place, place) for older in state.outdated)

    def wait_for_press(self) -> None:
        """Send nothing until the person presses, because an ephemeral message needs a press."""
        self.message_state = self.message_state._replace(halted=State.UNREACHABLE.value)

    # Results of sending, editing and deleting

    def begin_call(self) -> None:
        """Note that a call to the platform begins.

        If it is refused, presses from now on can still reopen the surface.
        """
        self.is_used = False

    def outdate(self) -> None:
        """Note that a new message must replace the current one, if there is one.

        Write this before you send the new one. A crash in between then sends it again with the same key.
        """
        state = self.message_state
        if state.message:
            outdated = (*state.outdated, Outdated(state.message))
            self.message_state = state._replace(message="", digest=UNKNOWN, outdated=outdated, picture="")

    def restore_message(self, sent: SentMessage) -> None:
        """Make an outdated message current again, because no new one can be sent. It shows an older state."""
        state = self.message_state
        outdated = tuple(older for older in state.outdated if older != Outdated(sent.message))
        self._is_certain = False
        self.message_state = state._replace(
            message=sent.message, digest=UNKNOWN, picture=sent.picture, outdated=outdated
        )

    def begin_send(self, digest: str) -> Attempt:
        """Begin to send a message. From now until `finish_send` or `cancel_send`, it might have arrived.

        A platform that knows the key keeps the first panel sent under it. If that was another panel, the message's
        content is unknown, and an edit follows.
        """
        self.wants_repost = False
        previous_digest, self._tried = self._tried, digest if self._tried in (None, digest) else UNKNOWN
        return Attempt(self.message_state.sent + 1, self._tried, self.message_state.place_tag, previous_digest)

    def cancel_send(self, attempt: Attempt) -> None:
        """Note that the platform has not accepted the message."""
        self._tried = attempt.tried

    def finish_send(self, attempt: Attempt, place: str, sent: SentMessage, urgency: int, now: int) -> bool:
        """Note a sent message, to be saved at once. Return whether the surface still belongs to that place."""
        self._tried = None
        state = self.message_state
        ephemeral = place if is_ephemeral(place) else ""
        if state.place_tag != attempt.place_tag or not is_same_place(state.ephemeral, ephemeral):
            outdated = (*state.outdated, Outdated(sent.message, place))
            self.message_state = state._replace(sent=attempt.number, outdated=outdated)
            return False
        self._is_certain = True
        state = state._replace(message=sent.message, digest=attempt.digest, picture=sent.picture)
        self.message_state = state._replace(sent=attempt.number, seen_at=now, urgency=urgency)
        return True

    def begin_edit(self) -> None:
        """Begin to edit the message. Its content is unknown until `finish_edit`."""
        self._is_certain = False
        self.message_state = self.message_state._replace(digest=UNKNOWN)

    def finish_edit(self, sent: SentMessage, digest: str, urgency: int) -> None:
        """Note an edited message, unless another one has become current."""
        if self.message_state.message == sent.message:
            self._is_certain = True
            self.message_state = self.message_state._replace(digest=digest, urgency=urgency, picture=sent.picture)

    def mark_uncertain(self) -> None:
        """Note that a late upload can still overwrite the message, so it must be edited again."""
        self._is_certain = False
        self.message_state = self.message_state._replace(digest=UNKNOWN)

    def forget_message(self, message: str) -> None:
        """Note that a message is gone or cannot be edited."""
        if self.message_state.message == message:
            self.message_state = self.message_state._replace(message="", digest=UNKNOWN, picture="")

    def add_late_message(self, message: str, place: str, home: str) -> None:
        """Mark a message as outdated because it arrived after its text was sent alone. Save this at once."""
        is_here = is_same_place(self.message_state.ephemeral or home, place)
        outdated = (*self.message_state.outdated, Outdated(message, "" if is_here else place))
        self.message_state = self.message_state._replace(outdated=outdated)

    def remove_outdated(self, outdated: Outdated) -> None:
        """Note that an outdated message was deleted. Its place in the list might have changed."""
        remaining_messages = list(self.message_state.outdated)
        for listed_message in remaining_messages:
            if listed_message.message == outdated.message:
                remaining_messages.remove(listed_message)
                break
        self.message_state = self.message_state._replace(outdated=tuple(remaining_messages))

    def give_up(self, place: str) -> State:
        """Note that a place is unreachable, and return the new state. A hand in a group returns to the private chat."""
        halted, outdated = "", self.message_state.outdated
        if is_ephemeral(place):
            # An outdated message without a place would otherwise belong to the new place.
            outdated = tuple(older if older.place else Outdated(older.message, place) for older in outdated)
        else:
            halted = (State.UNREACHABLE if is_private(place) else State.DROPPED).value
        self.message_state = self.message_state._replace(
            halted=halted, message="", digest=UNKNOWN, ephemeral="", outdated=outdated, picture=""
        )
        self.wants_repost = False
        return self.state

    def finish(self) -> None:
        """Note that the surface's content is final."""
        if self.message_state.message:
            self.final_message = SentMessage(self.message_state.message, self.message_state.picture, self._is_certain)
        self.message_state = MessageState(place_tag=self.message_state.place_tag, halted=State.DONE.value)

    # Pauses before a turn or a retry

    @contextmanager
    def pause(self) -> Iterator[asyncio.Event]:
        """Yield an event that `wake` sets when another step can be due."""
        self._woken = asyncio.Event()
        try:
            yield self._woken
        finally:
            self._woken = None

    def wake(self) -> None:
        """Set the event of `pause`."""
        if self._woken:
            self._woken.set()

    # Cached panels and saved states

    def cached_panel(self, key: object) -> Panel | None:
        """Return the last drawn panel if it has this key."""
        return self._drawn if self._drawn_for == key else None

    def cache_panel(self, key: object, panel: Panel | None) -> None:
        self._drawn_for, self._drawn = key, panel

    def take_unsaved(self) -> MessageState | None:
        """Return the state to save, or None. It counts as saved from now on."""
        if self._saved == self.message_state:
            return None
        self._saved = self.message_state
        return self.message_state

    def forget_saved(self) -> None:
        """Note that the last save might be lost."""
        self._saved = None


def _move_state(state: MessageState, home: str, place: str, pressed: str) -> MessageState:
    """Return the state after the surface moved to its home, a private chat or an ephemeral place.

    ``pressed`` is the message already there, if any. The messages at the old place become outdated.
    """
    old_place = state.ephemeral or home
    ephemeral = place if is_ephemeral(place) else ""
    if is_same_place(old_place, place):
        return state._replace(ephemeral=ephemeral)
    messages = (*state.outdated, *([Outdated(state.message)] if state.message else ()))
    outdated = tuple(message if message.place else Outdated(message.message, old_place) for message in messages)
    return state._replace(ephemeral=ephemeral, message=pressed, digest=UNKNOWN, outdated=outdated, picture="")
