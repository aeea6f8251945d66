"""Messages that are sent once: a late picture is deleted if its text was sent alone."""

import asyncio
from typing import Any

import pytest

from bot.delivery.announcer import Announcer
from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.outages import Outages
from bot.delivery.send_limiter import SendLimiter
from bot.panel import Panel, Span
from bot.panel_picture import DECKS
from bot.pictures.pool import PicturePool
from bot.pictures.scene import Scene, Side
from bot.platform import NoPicture, SentMessage
from bot.rate_limiter import RateLimit
from bot.viewers import with_picture
from tests.bot.fake_platform import GROUP, FakePlatform

SCENE = Scene(deck=DECKS[0], sides=(Side("Ada", "0"), Side("Bea", "0")), target="to 21")
PANEL = with_picture(Panel((Span("Ada has won!"),)), SCENE, "en")


class LatePicturePlatform(FakePlatform):
    """A platform where uploads of pictures time out, and the pictures can still arrive later."""

    def __init__(self) -> None:
        super().__init__()
        self.late_message: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def send(self, place: str, panel: Panel, key: str, **options: Any) -> SentMessage:
        if panel.picture:
            raise NoPicture("too late", self.late_message)
        return await super().send(place, panel, key, **options)

    def arrive(self) -> None:
        self.messages[GROUP]["late"] = PANEL
        self.late_message.set_result("late")


def create_announcer(pictures: PicturePool) -> Announcer:
    limiter = SendLimiter(lambda _place: RateLimit())
    return Announcer(pictures, AnswerQueue(limiter, Outages(lambda _platform: True, lambda _platform: None)))


async def finish_answers(announcer: Announcer) -> None:
    async with asyncio.timeout(10):
        while announcer._answers.tasks:
            await announcer._answers.tasks.wait()


async def test_announcement_has_its_picture() -> None:
    fake, pictures = FakePlatform(), PicturePool()
    pictures._kept[SCENE.digest] = b"painted"
    await create_announcer(pictures).send(fake, GROUP, PANEL, "key")
    picture = fake.last(GROUP).picture
    assert picture
    assert picture.png == b"painted"


@pytest.mark.parametrize("arrives", [True, False])
async def test_late_picture_of_an_announcement_is_deleted(arrives: bool) -> None:
    fake, pictures = LatePicturePlatform(), PicturePool()
    pictures._kept[SCENE.digest] = b"painted"
    announcer = create_announcer(pictures)
    await announcer.send(fake, GROUP, PANEL, "key")
    assert fake.texts(GROUP) == ["Ada has won!"]
    if arrives:
        fake.arrive()
    else:
        fake.late_message.set_result("")
    await finish_answers(announcer)
    assert list(fake.messages[GROUP].values()) == [Panel(PANEL.text)]
    assert ("delete" in [call for call, _place, _message in fake.calls]) == arrives
