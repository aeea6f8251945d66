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
from adapters.discord.errors import ANSWERED, EXPIRED, EXPIRED_PASSES, NO_ANSWER, why
from adapters.discord.pictures import Upload
from adapters.discord.reading import InteractionToken
from adapters.discord.rest import Rest
from bot.platform import SentMessage, Trouble

MESSAGE, PUT_OFF_MESSAGE, PUT_OFF_CHANGE, CHANGE = 4, 5, 6, 7
"""Kinds of answers."""

ORIGINAL = "@original"

PUT_OFF_AFTER = 1.2
"""Seconds after which an interaction is put off; Discord gives up after three, and counts from its own end."""

SHOWN_WITHIN = 0.2
"""Seconds after which a press is put off though it was done: delivery waits before it shows what came of it."""

UPLOADED_WITHIN = 0.8
"""Seconds that an answer may take that brings a picture, before it is put off after all."""

MOST_AT_WORK = 400
"""With so many interactions under way a new one is put off at once: then work may take as long as it takes."""


class State(Enum):
    OPEN = "nothing has been said"
    PUT_OFF = "a command was told that its message is to come"
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

    async def change(self, body: Body, upload: Upload | None = None) -> SentMessage:
        """Change the pressed message: the answer itself, if none was given yet.

        An answer whose picture is refused or late, or whose connection is lost with it, raises that, and the press is
        put off: it can be changed again.
        """
        async with self._lock:
            if self.state is State.OPEN:
                return await self._answer_by_changing(body, upload)
            self._close()
            try:
                return await self._rest.edit_by(self.token, ORIGINAL, body, upload)
            except discord.HTTPException as error:
                if error.code in EXPIRED_PASSES:
                    raise TooLate(why(error)) from None
                raise

    async def _answer_by_changing(self, body: Body, upload: Upload | None) -> SentMessage:
        try:
            if upload is None:
                return await self._give(CHANGE, body)
            async with asyncio.timeout(UPLOADED_WITHIN):
                return await self._give(CHANGE, body, tell=True, upload=upload)
        except (Trouble, *NO_ANSWER):
            if body["attachments"]:
                # Should the answer have arrived all the same, this one comes too late, and nothing is lost.
                with suppress(TooLate):
                    await self._give(PUT_OFF_CHANGE)
                self.state = State.ACKNOWLEDGED
            raise

    async def show(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        """Send a message in answer; returns it. ``private`` for this person's eyes only."""
        async with self._lock:
            return await self._show(body, private=private, upload=upload)

    async def bring(self, body: Body) -> SentMessage:
        """Send the message that a command brings, for all to see; TooLate if it is not to be the answer any more."""
        async with self._lock:
            if self.state is State.ANSWERED:
                # Putting it off has failed, for one: nothing may come by such an interaction.
                raise TooLate("answered meanwhile")
            return await self._show(body, private=False)

    async def _show(self, body: Body, *, private: bool, upload: Upload | None = None) -> SentMessage:
        body = drawing.with_file(body, upload.name) if upload else body
        shown = {**body, "flags": body["flags"] | (drawing.EPHEMERAL if private else 0)}
        if self.state is State.OPEN:
            return await self._give(MESSAGE, shown, tell=True, upload=upload)
        if self.state is State.PUT_OFF:
            self._close()
            if private == self.private:
                return await self._rest.edit_by(self.token, ORIGINAL, body, upload)
            # What was put off for all to see cannot become something for one, nor the other way round.
            await self._rest.delete_by(self.token, ORIGINAL)
        return await self._rest.follow_up(self.token, shown, upload)

    async def say(self, text: str) -> None:
        """A short word for this person."""
        await self.show(drawing.word(text), private=True)

    async def put_off(self) -> None:
        """Say that more is to come, unless something was said."""
        async with self._lock:
            if self.state is State.OPEN:
                body = {"flags": drawing.EPHEMERAL} if self.private and not self.pressed else None
                self._is_being_put_off = True
                try:
                    await self._give(PUT_OFF_CHANGE if self.pressed else PUT_OFF_MESSAGE, body)
                finally:
                    self._is_being_put_off = False
                self.state = State.ACKNOWLEDGED if self.pressed else State.PUT_OFF
                self._answered.clear()

    async def is_put_off(self) -> bool:
        """Whether a command was told that its message is to come; one that is being told so is waited for."""
        async with self._lock:
            return self.state is State.PUT_OFF

    async def take_back(self) -> None:
        """Nothing comes of what was put off: it is no longer said that something will."""
        async with self._lock:
            if self.state is State.PUT_OFF:
                self._close()
                await self._rest.delete_by(self.token, ORIGINAL)

    def leave_to_delivery(self) -> None:
        """What was asked for is done, and the answer is what delivery shows of it."""
        self._left.set()

    @property
    def is_left(self) -> bool:
        return self._left.is_set()

    async def left_to_delivery(self) -> bool:
        """Wait until the card room is done with it; whether what delivery is about to show is the answer."""
        if not self._left.is_set():
            await self._left.wait()
        return self.is_wanted

    @property
    def is_wanted(self) -> bool:
        """Whether the pressed message is still to change in answer."""
        return self.state in (State.OPEN, State.ACKNOWLEDGED)

    @property
    def can_bring(self) -> bool:
        """Whether a new message may still be the answer, perhaps once it has been put off."""
        return self.state is not State.ANSWERED or self._is_being_put_off

    async def answered(self) -> None:
        """Wait until it has been answered."""
        await self._answered.wait()

    async def answered_within(self, seconds: float) -> bool:
        """Wait until it has been answered, but no longer than that; whether it was."""
        try:
            async with asyncio.timeout(seconds):
                await self._answered.wait()
        except TimeoutError:
            return False
        return True

    def let_go(self) -> None:
        """Nobody attends to it any more: who waits for it waits no longer."""
        self._answered.set()
        self._left.set()

    def _close(self) -> None:
        self.state = State.ANSWERED
        self._answered.set()

    async def _give(
        self, kind: int, body: Body | None = None, *, tell: bool = False, upload: Upload | None = None
    ) -> SentMessage:
        # Whatever comes of it: a second try would be refused if the first has arrived.
        self.state = State.ANSWERED
        try:
            return await self._rest.answer(self.token, kind, body, tell=tell, upload=upload)
        except discord.HTTPException as error:
            if error.code in (ANSWERED, EXPIRED):
                raise TooLate(why(error)) from None
            if error.status >= 500 and kind == MESSAGE:
                return await self._arrived(error)
            raise
        except (Trouble, *NO_ANSWER) as error:
            if kind == MESSAGE:
                return await self._arrived(error)
            raise
        finally:
            self.let_go()

    async def _arrived(self, error: Exception) -> SentMessage:
        """The message that an answer brought though nobody said so; otherwise the error that was met."""
        try:
            return await self._rest.original(self.token)
        except (Trouble, *NO_ANSWER):
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

    def open(self, answer: Answer, *, brings: bool = False) -> None:
        """Wait for an answer; ``brings`` if the next new message in its place is what it brings."""
        self._by_interaction[answer.token.interaction] = answer
        if answer.pressed:
            self._by_message[answer.pressed] = answer
        self._by_place[answer.place].append(answer)
        if brings:
            self._bringing.add(answer)

    def close(self, answer: Answer) -> None:
        answer.let_go()
        self._by_interaction.pop(answer.token.interaction, None)
        if self._by_message.get(answer.pressed) is answer:
            del self._by_message[answer.pressed]
        self._bringing.discard(answer)
        self._by_place[answer.place].remove(answer)
        if not self._by_place[answer.place]:
            del self._by_place[answer.place]

    def waits_at(self, place: str) -> bool:
        """Whether somebody waits for an answer in a place."""
        waiting = self._by_place.get(place)
        return waiting is not None and any(answer.is_wanted for answer in waiting)

    def pressing(self, message: str) -> Answer | None:
        """Who has pressed a message and still waits."""
        answer = self._by_message.get(message)
        return answer if answer and answer.is_wanted else None

    def bringing(self, place: str) -> Answer | None:
        """Who waits for a new message in a place."""
        waiting = (one for one in self._by_place.get(place, ()) if one.can_bring)
        return next((one for one in waiting if one in self._bringing), None)

    async def given(self, token: InteractionToken) -> None:
        """Return when the interaction has its answer: before that nothing may be sent with its token."""
        answer = self.answer_to(token)
        if answer:
            await answer.answered()

    def answer_to(self, token: InteractionToken) -> Answer | None:
        """The interaction that gave a token, while it is being answered."""
        return self._by_interaction.get(token.interaction)
