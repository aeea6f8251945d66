"""Answers to interactions. Each interaction gets exactly one answer, within three seconds.

The best answer is the changed panel or the new message. If that takes longer, the interaction is deferred
and answered in a second step.
"""

import asyncio
from collections import defaultdict
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from typing import Any

import discord

from adapters.discord import components
from adapters.discord.components import Body
from adapters.discord.errors import ANSWERED, EXPIRED, EXPIRED_TOKENS, LIBRARY_ERRORS, describe_error
from adapters.discord.interactions import AUTOCOMPLETE, COMMAND, COMPONENT, FORM, Unreadable, read_locale, read_token
from adapters.discord.pictures import Upload
from adapters.discord.places import InteractionToken
from adapters.discord.rest import Rest
from bot.platform import PlatformFailure, SentMessage
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

MESSAGE, DEFER_MESSAGE, DEFER_EDIT, EDIT, CHOICES, MODAL = 4, 5, 6, 7, 8, 9  # Discord's types of responses
ORIGINAL = "@original"
ANSWER_UPLOAD_SECONDS = 0.8  # time to upload an answer's picture before the answer is deferred
UNREADABLE = _("Discord sent something I couldn’t read: try again.")


class State(Enum):
    OPEN = "Discord waits for an answer"
    DEFERRED = "a command's message will follow"
    ACKNOWLEDGED = "a pressed message will change"
    ANSWERED = "the answer was given"


class TooLate(Exception):
    """The interaction has expired or already has an answer."""


@dataclass(eq=False)
class Answer:
    """The answer to one interaction.

    ``pressed`` is the id of the message with the pressed button, or empty for a command. ``private``: only the person
    who sent a command sees its answer. With ``awaits_message``, the next new message in ``place`` is the answer.
    ``handed_over`` is set once the card room leaves the answer to delivery, or once no answer is awaited any more.
    """

    rest: Rest
    token: InteractionToken
    place: str
    pressed: str = ""
    _: KW_ONLY
    private: bool = False
    awaits_message: bool = False
    state: State = State.OPEN
    handed_over: asyncio.Event = field(default_factory=asyncio.Event)
    _has_answer: asyncio.Event = field(default_factory=asyncio.Event)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_being_deferred: bool = False

    async def edit(self, body: Body, upload: Upload | None = None) -> SentMessage:
        """Edit the pressed message.

        The edit answers the interaction, unless it was answered before. If such an answer with a picture fails, the
        press is deferred and the error is raised. The message can then be edited again. Raises TooLate if the
        interaction has expired or has another answer.
        """
        async with self._lock:
            if self.state is not State.OPEN:
                self._close()
                try:
                    return await self.rest.edit_with_token(self.token, ORIGINAL, body, upload)
                except discord.HTTPException as error:
                    if error.code in EXPIRED_TOKENS:
                        raise TooLate(describe_error(error)) from None
                    raise
            try:
                async with asyncio.timeout(ANSWER_UPLOAD_SECONDS if upload else None):
                    return await self._send_answer(EDIT, body, wants_message=upload is not None, upload=upload)
            except (PlatformFailure, *LIBRARY_ERRORS):
                if body["attachments"]:
                    # If the first answer has arrived, this one is refused, which is harmless.
                    with suppress(TooLate):
                        await self._send_answer(DEFER_EDIT)
                    self.state = State.ACKNOWLEDGED
                raise

    async def send(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        """Answer with a message, or send one more after the answer. Return it. A ``private`` message is ephemeral."""
        async with self._lock:
            return await self._send(body, private=private, upload=upload)

    async def send_public(self, body: Body) -> SentMessage:
        """Send a command's public message. Raises TooLate if the interaction has another answer."""
        async with self._lock:
            if self.state is State.ANSWERED:
                # The state is also ANSWERED after a failed deferral.
                raise TooLate("answered in the meantime")
            return await self._send(body, private=False)

    async def _send(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        body = components.add_file(body, upload.name) if upload else body
        message_body = {**body, "flags": body["flags"] | (components.EPHEMERAL if private else 0)}
        if self.state is State.OPEN:
            return await self._send_answer(MESSAGE, message_body, wants_message=True, upload=upload)
        if self.state is State.DEFERRED:
            self._close()
            if private == self.private:
                return await self.rest.edit_with_token(self.token, ORIGINAL, body, upload)
            # A deferred message cannot change between public and private.
            await self.rest.delete_with_token(self.token, ORIGINAL)
        return await self.rest.follow_up(self.token, message_body, upload)

    async def send_toast(self, text: str) -> None:
        await self.send(components.toast_body(text), private=True)

    async def show_modal(self, body: Body) -> bool:
        """Open a modal. Return False if the interaction was deferred or answered before: Discord then accepts none."""
        async with self._lock:
            is_open = self.state is State.OPEN
            if is_open:
                await self._send_answer(MODAL, body)
            return is_open

    async def defer(self) -> None:
        async with self._lock:
            if self.state is State.OPEN:
                body = {"flags": components.EPHEMERAL} if self.private and not self.pressed else None
                self.is_being_deferred = True
                try:
                    await self._send_answer(DEFER_EDIT if self.pressed else DEFER_MESSAGE, body)
                finally:
                    self.is_being_deferred = False
                self.state = State.ACKNOWLEDGED if self.pressed else State.DEFERRED
                self._has_answer.clear()

    async def is_deferred(self) -> bool:
        """Return whether a command is deferred. Waits for a deferral in progress."""
        async with self._lock:
            return self.state is State.DEFERRED

    async def withdraw(self) -> None:
        """Delete the placeholder of a deferred command that has no message."""
        async with self._lock:
            if self.state is State.DEFERRED:
                self._close()
                await self.rest.delete_with_token(self.token, ORIGINAL)

    @property
    def can_edit(self) -> bool:
        """True if an edit of the pressed message can still be the answer."""
        return self.state in (State.OPEN, State.ACKNOWLEDGED)

    async def wait_until_answered(self, seconds: float | None = None) -> bool:
        """Wait until there is an answer, or the request has ended without one. Return False after ``seconds``."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_answer.wait()
        return self._has_answer.is_set()

    def release_waiters(self) -> None:
        self._has_answer.set()
        self.handed_over.set()

    def _close(self) -> None:
        self.state = State.ANSWERED
        self._has_answer.set()

    async def _send_answer(
        self, kind: int, body: Body | None = None, *, wants_message: bool = False, upload: Upload | None = None
    ) -> SentMessage:
        # Do this even if the call fails: the answer might have arrived, and a second one would be refused.
        self.state = State.ANSWERED
        try:
            return await self.rest.answer(self.token, kind, body, wants_message=wants_message, upload=upload)
        except (PlatformFailure, *LIBRARY_ERRORS) as error:
            if isinstance(error, discord.HTTPException) and error.code in (ANSWERED, EXPIRED):
                raise TooLate(describe_error(error)) from None
            if kind != MESSAGE or (isinstance(error, discord.HTTPException) and error.status < 500):
                raise
            # The response was lost, but the message might have arrived.
            try:
                return await self.rest.get_original(self.token)
            except (PlatformFailure, *LIBRARY_ERRORS):
                raise error from None
        finally:
            self.release_waiters()


class Answers:
    def __init__(self) -> None:
        self._by_interaction: dict[str, Answer] = {}
        self._by_message: dict[str, Answer] = {}
        self._by_place: dict[str, list[Answer]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._by_interaction)

    def add(self, answer: Answer) -> None:
        self._by_interaction[answer.token.interaction] = answer
        if answer.pressed:
            self._by_message[answer.pressed] = answer
        self._by_place[answer.place].append(answer)

    def remove(self, answer: Answer) -> None:
        answer.release_waiters()
        self._by_interaction.pop(answer.token.interaction, None)
        if self._by_message.get(answer.pressed) is answer:
            del self._by_message[answer.pressed]
        self._by_place[answer.place].remove(answer)
        if not self._by_place[answer.place]:
            del self._by_place[answer.place]

    def has_pending(self, place: str) -> bool:
        """Return whether an edit at this place can be an answer."""
        return any(answer.can_edit for answer in self._by_place.get(place, ()))

    def find_by_message(self, message: str) -> Answer | None:
        answer = self._by_message.get(message)
        return answer if answer and answer.can_edit else None

    def find_by_place(self, place: str) -> Answer | None:
        """Return the pending answer for the next new message in this place."""
        for answer in self._by_place.get(place, ()):
            if answer.awaits_message and (answer.state is not State.ANSWERED or answer.is_being_deferred):
                return answer
        return None

    async def wait_until_answered(self, token: InteractionToken) -> None:
        """Wait until the interaction has its answer. Before that nothing can be sent with its token."""
        if answer := self.find_by_token(token):
            await answer.wait_until_answered()

    def find_by_token(self, token: InteractionToken) -> Answer | None:
        return self._by_interaction.get(token.interaction)


async def answer_unreadable(rest: Rest, event: object) -> None:
    """Say that an interaction's event could not be read, if it can be answered.

    Raises TooLate, delivery errors and the library's errors.
    """
    if not isinstance(event, dict):
        return
    try:
        token = read_token(event)
    except Unreadable:
        return
    kind = event.get("type")
    if kind == AUTOCOMPLETE:
        await send_choices(rest, token, [])
    elif kind in (COMMAND, COMPONENT, FORM):
        text = texts(language_of(read_locale(event))).gettext(UNREADABLE)
        await Answer(rest, token, "").send_toast(text)


async def send_choices(rest: Rest, token: InteractionToken, choices: list[dict[str, Any]]) -> None:
    """Answer an autocompletion. Raises delivery errors and the library's errors."""
    await rest.answer(token, CHOICES, {"choices": choices})
