"""Answers to interactions. Each gets exactly one answer, within three seconds.

The best answer is the changed panel or the new message. Slower work is deferred and answered in a second step.
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

MESSAGE, DEFER_MESSAGE, DEFER_EDIT, EDIT = 4, 5, 6, 7  # Discord's types of interaction responses
ORIGINAL = "@original"

# Seconds after which an interaction is deferred. Discord gives up after three, which include the network.
DEFER_SECONDS = 1.2
DELIVERY_SECONDS = 0.2  # for a finished press that waits for delivery
ANSWER_UPLOAD_SECONDS = 0.8  # for an answer with a picture

MAX_PENDING = 400  # pending interactions; more are deferred at once, because their work could take long


class State(Enum):
    OPEN = "Discord waits for an answer"
    DEFERRED = "a command's message will follow"
    ACKNOWLEDGED = "a pressed message will change"
    ANSWERED = "the answer was given"


class TooLate(Exception):
    """The interaction has expired or already has an answer."""


class Answer:
    """The answer to one interaction.

    ``pressed`` is the id of the message with the pressed button, or empty for a command. ``private`` is whether only
    this person sees a command's message. ``handed_over`` is set when the request is done and its result is about to be
    delivered: then delivery gives the answer.
    """

    def __init__(
        self, rest: Rest, token: InteractionToken, place: str, pressed: str = "", *, private: bool = False
    ) -> None:
        self._rest = rest
        self.token, self.place, self.pressed, self.private = token, place, pressed, private
        self.state = State.OPEN
        self._is_being_deferred = False
        self._lock = asyncio.Lock()
        self.handed_over = asyncio.Event()
        self._answered = asyncio.Event()

    async def edit(self, body: Body, upload: Upload | None = None) -> SentMessage:
        """Edit the pressed message. The edit is the answer, if the interaction has none yet.

        If the picture is refused or late, or the connection is lost, the press is deferred and the error raised. The
        message can then be edited again.
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
                return await self._send_answer(EDIT, body, wants_message=True, upload=upload)
        except (PlatformFailure, *LIBRARY_ERRORS):
            if body["attachments"]:
                # If the first answer has arrived, this one is refused, which is harmless.
                with suppress(TooLate):
                    await self._send_answer(DEFER_EDIT)
                self.state = State.ACKNOWLEDGED
            raise

    async def send(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        """Answer with a message and return it. Only this person sees it if ``private``."""
        async with self._lock:
            return await self._send(body, private=private, upload=upload)

    async def send_public(self, body: Body) -> SentMessage:
        """Send a command's public message. Raises TooLate if the interaction has another answer."""
        async with self._lock:
            if self.state is State.ANSWERED:
                # For example because deferring has failed.
                raise TooLate("answered meanwhile")
            return await self._send(body, private=False)

    async def _send(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        body = drawing.add_file(body, upload.name) if upload else body
        shown = {**body, "flags": body["flags"] | (drawing.EPHEMERAL if private else 0)}
        if self.state is State.OPEN:
            return await self._send_answer(MESSAGE, shown, wants_message=True, upload=upload)
        if self.state is State.DEFERRED:
            self._close()
            if private == self.private:
                return await self._rest.edit_with_token(self.token, ORIGINAL, body, upload)
            # A deferred message cannot change between public and private.
            await self._rest.delete_with_token(self.token, ORIGINAL)
        return await self._rest.follow_up(self.token, shown, upload)

    async def send_toast(self, text: str) -> None:
        """Send a short text that only this person sees."""
        await self.send(drawing.toast_body(text), private=True)

    async def defer(self) -> None:
        """Defer the interaction, unless it has an answer."""
        async with self._lock:
            if self.state is State.OPEN:
                body = {"flags": drawing.EPHEMERAL} if self.private and not self.pressed else None
                self._is_being_deferred = True
                try:
                    await self._send_answer(DEFER_EDIT if self.pressed else DEFER_MESSAGE, body)
                finally:
                    self._is_being_deferred = False
                self.state = State.ACKNOWLEDGED if self.pressed else State.DEFERRED
                self._answered.clear()

    async def is_deferred(self) -> bool:
        """Return whether a command is deferred. Waits for a deferral in progress."""
        async with self._lock:
            return self.state is State.DEFERRED

    async def withdraw(self) -> None:
        """Delete the placeholder of a deferred command that has no message."""
        async with self._lock:
            if self.state is State.DEFERRED:
                self._close()
                await self._rest.delete_with_token(self.token, ORIGINAL)

    @property
    def can_edit(self) -> bool:
        """True if the pressed message can still change in answer."""
        return self.state in (State.OPEN, State.ACKNOWLEDGED)

    @property
    def can_send(self) -> bool:
        """True if a new message can still be the answer, even after a deferral."""
        return self.state is not State.ANSWERED or self._is_being_deferred

    async def wait_until_answered(self, seconds: float | None = None) -> bool:
        """Wait until there is an answer. Return False after ``seconds``."""
        try:
            async with asyncio.timeout(seconds):
                await self._answered.wait()
        except TimeoutError:
            return False
        return True

    def release_waiters(self) -> None:
        self._answered.set()
        self.handed_over.set()

    def _close(self) -> None:
        self.state = State.ANSWERED
        self._answered.set()

    async def _send_answer(
        self, kind: int, body: Body | None = None, *, wants_message: bool = False, upload: Upload | None = None
    ) -> SentMessage:
        # Even if the call fails: the answer can have arrived, and a second one would be refused.
        self.state = State.ANSWERED
        try:
            return await self._rest.answer(self.token, kind, body, wants_message=wants_message, upload=upload)
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
        """Return the message of an answer that arrived although its response was lost. Otherwise raise ``error``."""
        try:
            return await self._rest.get_original(self.token)
        except (PlatformFailure, *LIBRARY_ERRORS):
            raise error from None


class Answers:
    """The pending answers, by interaction, message and place."""

    def __init__(self) -> None:
        self._by_interaction: dict[str, Answer] = {}
        self._by_message: dict[str, Answer] = {}
        self._by_place: dict[str, list[Answer]] = defaultdict(list)
        self._awaiting_message: set[Answer] = set()

    def __len__(self) -> int:
        return len(self._by_interaction)

    def add(self, answer: Answer, *, awaits_message: bool = False) -> None:
        """Add a pending answer. With ``awaits_message``, the next new message in its place is the answer."""
        self._by_interaction[answer.token.interaction] = answer
        if answer.pressed:
            self._by_message[answer.pressed] = answer
        self._by_place[answer.place].append(answer)
        if awaits_message:
            self._awaiting_message.add(answer)

    def remove(self, answer: Answer) -> None:
        answer.release_waiters()
        self._by_interaction.pop(answer.token.interaction, None)
        if self._by_message.get(answer.pressed) is answer:
            del self._by_message[answer.pressed]
        self._awaiting_message.discard(answer)
        self._by_place[answer.place].remove(answer)
        if not self._by_place[answer.place]:
            del self._by_place[answer.place]

    def has_pending(self, place: str) -> bool:
        return any(answer.can_edit for answer in self._by_place.get(place, ()))

    def find_by_message(self, message: str) -> Answer | None:
        """Return the pending answer to a press on a message."""
        answer = self._by_message.get(message)
        return answer if answer and answer.can_edit else None

    def find_by_place(self, place: str) -> Answer | None:
        """Return the pending answer that a new message in this place can be."""
        answers = self._by_place.get(place, ())
        return next((answer for answer in answers if answer.can_send and answer in self._awaiting_message), None)

    async def wait_until_answered(self, token: InteractionToken) -> None:
        """Wait until the interaction has its answer. Before that nothing can be sent with its token."""
        if answer := self.find_by_token(token):
            await answer.wait_until_answered()

    def find_by_token(self, token: InteractionToken) -> Answer | None:
        return self._by_interaction.get(token.interaction)
