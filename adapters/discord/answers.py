"""Answers to interactions. Each gets exactly one, within three seconds: best is what the person is waiting for, the
panel that changes or the message that comes. What takes longer is put off, and answered in a second step.
"""

import asyncio
from collections import defaultdict
from contextlib import suppress
from enum import Enum

import discord

from adapters.discord import drawing
from adapters.discord.drawing import Body
from adapters.discord.errors import ANSWERED, EXPIRED, EXPIRED_TOKENS, LIBRARY_ERRORS, describe_error
from adapters.discord.pictures import Upload
from adapters.discord.reading import InteractionToken
from adapters.discord.rest import Rest
from bot.platform import PlatformFailure, SentMessage

MESSAGE, DEFER_MESSAGE, DEFER_EDIT, EDIT = 4, 5, 6, 7
"""Kinds of answers."""

ORIGINAL = "@original"

DEFER_SECONDS = 1.2
"""Seconds after which an interaction is put off; Discord gives up after three, and counts from its own end."""

DELIVERY_SECONDS = 0.2
"""Seconds after which a press is put off though it was done: delivery waits before it shows what came of it."""

ANSWER_UPLOAD_SECONDS = 0.8
"""Seconds that an answer may take that brings a picture, before it is put off after all."""

MAX_PENDING = 400
"""With so many interactions under way a new one is put off at once: then work may take as long as it takes."""


class State(Enum):
    OPEN = "nothing has been said"
    DEFERRED = "a command was told that its message is to come"
    ACKNOWLEDGED = "a press was told that its message is to change"
    ANSWERED = "the answer was given"


class TooLate(Exception):
    """The interaction cannot be answered any more, or somebody else has answered it."""


class Answer:
    """The answer to one interaction.

    ``pressed`` is the message whose button was pressed, empty for a command. ``private`` is whether what comes of a
    command is for that person alone.
    """

    def __init__(
        self, rest: Rest, token: InteractionToken, place: str, pressed: str = "", *, private: bool = False
    ) -> None:
        self._rest = rest
        self.token, self.place, self.pressed, self.private = token, place, pressed, private
        self.state = State.OPEN
        self._is_being_put_off = False
        self._lock = asyncio.Lock()
        self._answered, self._left = asyncio.Event(), asyncio.Event()

    async def edit(self, body: Body, upload: Upload | None = None) -> SentMessage:
        """Change the pressed message: the answer itself, if none was given yet.

        An answer whose picture is refused or late, or whose connection is lost with it, raises that, and the press is
        put off: it can be changed again.
        """
        async with self._lock:
            if self.state is State.OPEN:
                return await self._edit_as_answer(body, upload)
            self._close()
            try:
                return await self._rest.edit_with_token(self.token, ORIGINAL, body, upload)
            except discord.HTTPException as error:
                if error.code in EXPIRED_TOKENS:
                    raise TooLate(describe_error(error)) from None
                raise

    async def _edit_as_answer(self, body: Body, upload: Upload | None) -> SentMessage:
        try:
            if upload is None:
                return await self._send_answer(EDIT, body)
            async with asyncio.timeout(ANSWER_UPLOAD_SECONDS):
                return await self._send_answer(EDIT, body, tell=True, upload=upload)
        except (PlatformFailure, *LIBRARY_ERRORS):
            if body["attachments"]:
                # Should the answer have arrived all the same, this one comes too late, and nothing is lost.
                with suppress(TooLate):
                    await self._send_answer(DEFER_EDIT)
                self.state = State.ACKNOWLEDGED
            raise

    async def send(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        """Send a message in answer; returns it. ``private`` for this person's eyes only."""
        async with self._lock:
            return await self._send(body, private=private, upload=upload)

    async def send_public(self, body: Body) -> SentMessage:
        """Send the message that a command brings, for all to see; TooLate if it is not to be the answer any more."""
        async with self._lock:
            if self.state is State.ANSWERED:
                # Putting it off has failed, for one: nothing may come by such an interaction.
                raise TooLate("answered meanwhile")
            return await self._send(body, private=False)

    async def _send(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        body = drawing.add_file(body, upload.name) if upload else body
        shown = {**body, "flags": body["flags"] | (drawing.EPHEMERAL if private else 0)}
        if self.state is State.OPEN:
            return await self._send_answer(MESSAGE, shown, tell=True, upload=upload)
        if self.state is State.DEFERRED:
            self._close()
            if private == self.private:
                return await self._rest.edit_with_token(self.token, ORIGINAL, body, upload)
            # What was put off for all to see cannot become something for one, nor the other way round.
            await self._rest.delete_with_token(self.token, ORIGINAL)
        return await self._rest.follow_up(self.token, shown, upload)

    async def send_toast(self, text: str) -> None:
        """A short word for this person."""
        await self.send(drawing.toast_body(text), private=True)

    async def defer(self) -> None:
        """Say that more is to come, unless something was said."""
        async with self._lock:
            if self.state is State.OPEN:
                body = {"flags": drawing.EPHEMERAL} if self.private and not self.pressed else None
                self._is_being_put_off = True
                try:
                    await self._send_answer(DEFER_EDIT if self.pressed else DEFER_MESSAGE, body)
                finally:
                    self._is_being_put_off = False
                self.state = State.ACKNOWLEDGED if self.pressed else State.DEFERRED
                self._answered.clear()

    async def is_deferred(self) -> bool:
        """Whether a command was told that its message is to come; one that is being told so is waited for."""
        async with self._lock:
            return self.state is State.DEFERRED

    async def withdraw(self) -> None:
        """Nothing comes of what was put off: it is no longer said that something will."""
        async with self._lock:
            if self.state is State.DEFERRED:
                self._close()
                await self._rest.delete_with_token(self.token, ORIGINAL)

    def hand_to_delivery(self) -> None:
        """What was asked for is done, and the answer is what delivery shows of it."""
        self._left.set()

    @property
    def is_with_delivery(self) -> bool:
        return self._left.is_set()

    async def wait_for_handover(self) -> bool:
        """Wait until the card room is done with it; whether what delivery is about to show is the answer."""
        if not self._left.is_set():
            await self._left.wait()
        return self.can_edit

    @property
    def can_edit(self) -> bool:
        """Whether the pressed message is still to change in answer."""
        return self.state in (State.OPEN, State.ACKNOWLEDGED)

    @property
    def can_send(self) -> bool:
        """Whether a new message may still be the answer, perhaps once it has been put off."""
        return self.state is not State.ANSWERED or self._is_being_put_off

    async def wait_until_answered(self) -> None:
        """Wait until it has been answered."""
        await self._answered.wait()

    async def is_answered_within(self, seconds: float) -> bool:
        """Wait until it has been answered, but no longer than that; whether it was."""
        try:
            async with asyncio.timeout(seconds):
                await self._answered.wait()
        except TimeoutError:
            return False
        return True

    def release_waiters(self) -> None:
        """Nobody attends to it any more: who waits for it waits no longer."""
        self._answered.set()
        self._left.set()

    def _close(self) -> None:
        self.state = State.ANSWERED
        self._answered.set()

    async def _send_answer(
        self, kind: int, body: Body | None = None, *, tell: bool = False, upload: Upload | None = None
    ) -> SentMessage:
        # Whatever comes of it: a second try would be refused if the first has arrived.
        self.state = State.ANSWERED
        try:
            return await self._rest.answer(self.token, kind, body, tell=tell, upload=upload)
        except discord.HTTPException as error:
            if error.code in (ANSWERED, EXPIRED):
                raise TooLate(describe_error(error)) from None
            if error.status >= 500 and kind == MESSAGE:
                return await self._fetch_original(error)
            raise
        except (PlatformFailure, *LIBRARY_ERRORS) as error:
            if kind == MESSAGE:
                return await self._fetch_original(error)
            raise
        finally:
            self.release_waiters()

    async def _fetch_original(self, error: Exception) -> SentMessage:
        """The message that an answer brought though nobody said so; otherwise the error that was met."""
        try:
            return await self._rest.get_original(self.token)
        except (PlatformFailure, *LIBRARY_ERRORS):
            raise error from None


class Answers:
    """The interactions that have not been answered yet, for whatever is sent or changed meanwhile."""

    def __init__(self) -> None:
        self._by_interaction: dict[str, Answer] = {}
        self._by_message: dict[str, Answer] = {}
        self._by_place: dict[str, list[Answer]] = defaultdict(list)
        self._bringing: set[Answer] = set()

    def __len__(self) -> int:
        return len(self._by_interaction)

    def add(self, answer: Answer, *, brings: bool = False) -> None:
        """Wait for an answer; ``brings`` if the next new message in its place is what it brings."""
        self._by_interaction[answer.token.interaction] = answer
        if answer.pressed:
            self._by_message[answer.pressed] = answer
        self._by_place[answer.place].append(answer)
        if brings:
            self._bringing.add(answer)

    def remove(self, answer: Answer) -> None:
        answer.release_waiters()
        self._by_interaction.pop(answer.token.interaction, None)
        if self._by_message.get(answer.pressed) is answer:
            del self._by_message[answer.pressed]
        self._bringing.discard(answer)
        self._by_place[answer.place].remove(answer)
        if not self._by_place[answer.place]:
            del self._by_place[answer.place]

    def has_pending(self, place: str) -> bool:
        """Whether somebody waits for an answer in a place."""
        waiting = self._by_place.get(place)
        return waiting is not None and any(answer.can_edit for answer in waiting)

    def find_by_message(self, message: str) -> Answer | None:
        """Who has pressed a message and still waits."""
        answer = self._by_message.get(message)
        return answer if answer and answer.can_edit else None

    def find_by_place(self, place: str) -> Answer | None:
        """Who waits for a new message in a place."""
        waiting = (one for one in self._by_place.get(place, ()) if one.can_send)
        return next((one for one in waiting if one in self._bringing), None)

    async def wait_until_answered(self, token: InteractionToken) -> None:
        """Return when the interaction has its answer: before that nothing may be sent with its token."""
        answer = self.find_by_token(token)
        if answer:
            await answer.wait_until_answered()

    def find_by_token(self, token: InteractionToken) -> Answer | None:
        """The interaction that gave a token, while it is being answered."""
        return self._by_interaction.get(token.interaction)
