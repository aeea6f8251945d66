"""The command /learn and the buttons of its messages."""

from dataclasses import replace

from bot.actions import SEPARATE, BadPayload
from bot.features.learn.lesson import Spot, tap
from bot.features.learn.pages import courses_page, lesson_page
from bot.features.learn.pictures import lesson_scene
from bot.features.learn.progress import Progress
from bot.panel import Panel
from bot.people import Profile
from bot.platform import Command, Press, Reply, private_place
from bot.private_replies import answer_place, private_reply, private_toast
from bot.viewers import Viewers, with_picture


class Learn:
    """The courses, always in the private chat."""

    def __init__(self, progress: Progress, viewers: Viewers) -> None:
        self._progress, self._viewers = progress, viewers

    async def ask(self, command: Command, profile: Profile) -> Reply:
        panel = await self._courses(profile)
        return Reply(private_toast(answer_place(command), profile.language), panel, private=True)

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Answer a press. ``words`` are empty for the list of courses, or the fields of a `Spot`.

        With only a course, the person continues where they left off. A last word `SEPARATE` keeps the pressed message.
        """
        if words[-1:] == [SEPARATE]:
            reply = await self.answer(press, profile, words[:-1])
            return replace(reply, toast=private_toast(press.place, profile.language), private=True)
        if not words:
            return private_reply(press.place, profile.language, await self._courses(profile))
        if len(words) > len(Spot._fields):
            raise BadPayload()
        spot = Spot(*words) if len(words) > 1 else await self._progress.spot(profile.id, words[0])
        viewer = await self._viewers.viewer_at(private_place(profile.id))
        lesson, answer = tap(spot, viewer.language, viewer.suits)
        await self._progress.note(profile.id, lesson)
        panel = lesson_page(lesson, answer)
        if viewer.deck:
            panel = with_picture(panel, lesson_scene(lesson, viewer.deck), viewer.language)
        return private_reply(press.place, profile.language, panel)

    async def _courses(self, profile: Profile) -> Panel:
        return courses_page(profile.language, await self._progress.courses_of(profile.id))
