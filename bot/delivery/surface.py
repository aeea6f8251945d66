"""One surface of a table: what is known of its message, and every way in which that changes."""

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
    """Something that somebody did with a surface: pressed it on a message, chose part of a move, or asks for it anew.

    ``pressed`` is the message, ``draft`` the part of a move (None if that stays), ``repost`` whether the surface is to
    come as a new message. ``place`` is the private chat, or the ephemeral place in a group, where they did so, or want
    it from now on. ``genuine`` is whether the platform says that the pressed message shows this surface
    (`bot.platform.Press`); if not, the message is left alone unless it is known to do so. A change ``if_waiting`` only
    concerns a surface that could not be shown, and leaves every other one where it is.
    """

    pressed: str = ""
    draft: Draft | None = None
    repost: bool = False
    place: str = ""
    genuine: bool = False
    if_waiting: bool = False


def encode_change(change: Change) -> list[Any]:
    """A change as JSON has it, for the worker that delivers the table."""
    pressed, draft, *rest, if_waiting = change
    # A worker of an older release does not know the last field.
    return [pressed, None if draft is None else encode_draft(draft), *rest, *([True] if if_waiting else [])]


def decode_change(fields: Sequence[Any]) -> Change:
    """The change that another worker tells of; ValueError if its draft is none."""
    pressed, draft, *rest = fields
    return Change(pressed, None if draft is None else decode_draft(draft), *rest)


class Send(NamedTuple):
    """Nothing stands there: send a message."""

    panel: Panel
    urgency: int


class Edit(NamedTuple):
    """The message that stands there shows something else: edit it."""

    sent: SentMessage
    panel: Panel
    urgency: int


class Replace(NamedTuple):
    """A message stands there, and a new one is to come: it is wanted, or the phone is to ring."""

    panel: Panel
    urgency: int


class Delete(NamedTuple):
    """A message stands there, and an older one as well: delete that."""

    outdated: Outdated


Step = Send | Edit | Replace | Delete


class Attempt(NamedTuple):
    """A message that is being sent: its number, the digest of what it will show, the tag of its place, and what may
    have been sent before under its key.
    """

    number: int
    digest: str
    place_tag: str
    tried: str | None


class Surface:
    """The state machine of one surface. Only its own methods change it, and none of them waits for anything.

    ``inherited`` is whether a process before this one may have sent a message that it could not write down any more.
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
        """Whether a task brings it up to date just now."""
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
        """Whether a person pressed something here, or asked for it, since the last call to the platform began."""
        return self._is_used

    # What is to be done

    def is_up_to_date(self, panel: Panel) -> bool:
        """Whether all is as it should be, if this panel is what it should show."""
        return self._known.digest == panel.digest and not self._known.outdated and not self._repost

    def next_deletion(self) -> Delete | None:
        """What goes first: the oldest message that is outdated, once another one stands there."""
        known = self._known
        return Delete(known.outdated[0]) if known.outdated and known.message else None

    def next_step(self, panel: Panel, urgency: int, *, rings: bool) -> Step | None:
        """What is to be done that this panel is shown; ``rings`` if a new message is to tell of it."""
        if self._repost or rings:
            return Replace(panel, urgency)
        if not self._known.message:
            return Send(panel, urgency)
        if self._known.digest == panel.digest:
            return None
        return Edit(SentMessage(self._known.message, self._known.picture, self._is_certain), panel, urgency)

    # What people do

    def set_place_tag(self, place_tag: str) -> None:
        """Whose it is; all that is known is of no use any more if somebody else took the chair, or the chat moved."""
        if self._known.place_tag != place_tag:
            self._known = MessageState(place_tag=place_tag)

    def record_press(self, change: Change, home: str, now: int) -> bool:
        """A press on the message that stands where it should changes nothing that is drawn: when it was, and the token.

        False for everything else, which is to be applied.
        """
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
        """Somebody did something; ``home`` is where the surface belongs, ``now`` in Unix seconds."""
        self._is_used = self._is_used or bool(change.pressed or change.place or change.repost)
        if change.if_waiting and not self.is_out_of_reach:
            return
        known, pressed, place = self._known, change.pressed, change.place
        is_back = (pressed or place) and known.state in (State.UNREACHABLE, State.DROPPED)
        if pressed and not change.genuine and not self._has_shown(pressed, home, place):
            # The press was made up, or the platform no longer knows the message: it may be any message at all.
            pressed = place = ""
        if place:
            known = _move_state(known, home, place, pressed)
        if pressed and known.state is State.DONE:
            # What will not change any more has no buttons: this is a message that a crash doubled.
            known = known._replace(halted="", message=pressed, digest=UNKNOWN, picture="")
        if pressed and known.message not in ("", pressed) and Outdated(pressed) not in known.outdated:
            # A message that a crash doubled, or an older one that could not be taken away then.
            known = known._replace(outdated=(*known.outdated, Outdated(pressed)))
        self._known = known._replace(
            seen_at=now if pressed else known.seen_at,
            draft=known.draft if change.draft is None else change.draft,
            halted="" if change.repost or is_back else known.halted,
        )
        self._repost = self._repost or change.repost

    def _has_shown(self, message: str, home: str, place: str) -> bool:
        """Whether a message of a place, by default where the surface is, is known to show it or to have shown it."""
        known = self._known
        if not place or is_same_place(known.ephemeral or home, place):
            return message == known.message or Outdated(message) in known.outdated
        return any(one.message == message and is_same_place(one.place, place) for one in known.outdated)

    def wait_for_press(self) -> None:
        """Its person wants it in the group, which takes a press of theirs."""
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
        """A message that was outdated is what stands there, for no new one may be sent; it shows something older."""
        left = tuple(one for one in self._known.outdated if one != Outdated(sent.message))
        self._is_certain = False
        self._known = self._known._replace(message=sent.message, digest=UNKNOWN, picture=sent.picture, outdated=left)

    def begin_send(self, digest: str) -> Attempt:
        """A message goes out. Only `sent` and `not_sent` end that for certain: until then it may have arrived.

        A platform that knows the key keeps to what came under it first. So where that may have been another panel it
        is not known what the message shows, and an edit makes sure.
        """
        self._repost = False
        before, self._tried = self._tried, digest if self._tried in (None, digest) else UNKNOWN
        return Attempt(self._known.sent + 1, self._tried, self._known.place_tag, before)

    def cancel_send(self, attempt: Attempt) -> None:
        """The platform says that it took no message: its key stands for what it stood for before."""
        self._tried = attempt.tried

    def finish_send(self, attempt: Attempt, place: str, sent: SentMessage, urgency: int, now: int) -> bool:
        """A message has been sent to a place; whether the surface is still there, and nobody else's.

        This is to be written down at once: only a crash in between can double the message.
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
        """A message is being edited. Only `edited` ends that for certain: until then nobody knows what it shows."""
        self._is_certain = False
        # Each press comes by here, and `_replace` takes five times as long.
        self._known = MessageState(self._known.message, UNKNOWN, *self._known[2:])

    def finish_edit(self, sent: SentMessage, digest: str, urgency: int) -> None:
        """A message shows another panel now; of no interest if another one stands there by now."""
        known = self._known
        if known.message == sent.message:
            self._is_certain = True
            # Each press comes by here, and `_replace` takes five times as long.
            self._known = MessageState(sent.message, digest, *known[2:6], urgency, *known[7:10], sent.picture)

    def mark_uncertain(self) -> None:
        """What was shown last may still give way to something older, and is to be edited again."""
        self._is_certain = False
        self._known = self._known._replace(digest=UNKNOWN)

    def forget_message(self, message: str) -> None:
        """A message is no longer there, or can no longer be edited."""
        if self._known.message == message:
            self._known = self._known._replace(message="", digest=UNKNOWN, picture="")

    def add_late_message(self, message: str, place: str, home: str) -> None:
        """A message has come to stand at a place though its text was sent by itself; ``home`` is where the surface
        belongs. This is to be written down at once.
        """
        is_here = is_same_place(self._known.ephemeral or home, place)
        outdated = (*self._known.outdated, Outdated(message, "" if is_here else place))
        self._known = self._known._replace(outdated=outdated)

    def remove_outdated(self, outdated: Outdated) -> None:
        """An outdated message has been deleted; it may be said by now that it is elsewhere."""
        left = list(self._known.outdated)
        for one in left:
            if one.message == outdated.message:
                left.remove(one)
                break
        self._known = self._known._replace(outdated=tuple(left))

    def give_up(self, place: str) -> State:
        """Nothing can be shown at a place; returns what becomes of the surface.

        A hand in a group goes home, where it may be reachable.
        """
        halted, outdated = "", self._known.outdated
        if is_ephemeral(place):
            # They stand where the surface was: at its home, their numbers mean others.
            outdated = tuple(one if one.place else Outdated(one.message, place) for one in outdated)
        else:
            halted = (State.UNREACHABLE if is_private(place) else State.DROPPED).value
        self._known = self._known._replace(
            halted=halted, message="", digest=UNKNOWN, ephemeral="", outdated=outdated, picture=""
        )
        self._repost = False
        return self.state

    def finish(self) -> None:
        """What it shows will not change any more."""
        if self._known.message:
            self.final_message = SentMessage(self._known.message, self._known.picture, self._is_certain)
        self._known = MessageState(place_tag=self._known.place_tag, halted=State.DONE.value)

    # While it waits for its turn, or before something is tried again

    @contextmanager
    def pause(self) -> Iterator[asyncio.Event]:
        """It waits meanwhile: what is set when there may be something else to be done by now."""
        self._woken = asyncio.Event()
        try:
            yield self._woken
        finally:
            self._woken = None

    def wake(self) -> None:
        """There may be something else to be done than what is waited for."""
        if self._woken:
            self._woken.set()

    # What is kept

    def cached_panel(self, key: object) -> Panel | None:
        """The panel that was last drawn, if it was for the same key."""
        return self._drawn if self._drawn_for == key else None

    def cache_panel(self, key: object, panel: Panel | None) -> None:
        self._drawn_for, self._drawn = key, panel

    def take_unsaved(self) -> MessageState | None:
        """What the store is to be told, None for nothing; it counts as saved from now on."""
        if self._saved == self._known:
            return None
        self._saved = self._known
        return self._known

    def forget_saved(self) -> None:
        """What was to be saved may be lost: all is to be saved again."""
        self._saved = None


def _move_state(known: MessageState, home: str, place: str, pressed: str) -> MessageState:
    """What is known once the surface is at a place that is its home, a private chat, or ephemeral.

    ``pressed`` is the message that stands there already, if one does. What stood at the place before is outdated.
    """
    before = known.ephemeral or home
    ephemeral = place if is_ephemeral(place) else ""
    if is_same_place(before, place):
        return known._replace(ephemeral=ephemeral)
    older = (*known.outdated, *([Outdated(known.message)] if known.message else ()))
    outdated = tuple(one if one.place else Outdated(one.message, before) for one in older)
    return known._replace(ephemeral=ephemeral, message=pressed, digest=UNKNOWN, outdated=outdated, picture="")
