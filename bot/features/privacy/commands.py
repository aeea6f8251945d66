"""The commands /privacy, /mydata and /forget, and the buttons that follow them."""

from bot.actions import BadPayload
from bot.features.privacy.errors import AskedJustNow, NotYourPage
from bot.features.privacy.forgetting import Forgetter
from bot.features.privacy.mydata import COOLDOWN_SECONDS, MyData
from bot.features.privacy.pages import (
    forget_page,
    forgotten_page,
    mydata_page,
    not_forgotten_page,
    owner_tag,
    privacy_page,
)
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, is_private
from bot.replies import answer_place, private_reply, private_toast
from bot.tables.table_lists import TableLists


class OwnData:
    def __init__(self, forgetter: Forgetter, mydata: MyData, lists: TableLists, people: People) -> None:
        self._forgetter, self.mydata, self._lists, self._people = forgetter, mydata, lists, people

    async def show_privacy(self, command: Command, profile: Profile) -> Reply:
        toast = private_toast(answer_place(command), profile.language)
        return Reply(toast, privacy_page(profile.language), private=True)

    async def show_privacy_page(self, press: Press, profile: Profile, _words: list[str]) -> Reply:
        return private_reply(press.place, profile.language, privacy_page(profile.language))

    async def send_data(self, command: Command, profile: Profile) -> Reply:
        """Send a person's data as a file. Raises AskedJustNow during the cooldown."""
        if not await self.mydata.start_cooldown(profile.id):
            raise AskedJustNow(seconds=COOLDOWN_SECONDS)
        tables = await self._lists.tables_of(profile.id)
        file = await self.mydata.file(profile.id, tables, self._people.now())
        toast = private_toast(answer_place(command), profile.language)
        return Reply(toast, mydata_page(profile.language), private=True, file=file)

    async def ask_to_forget(self, command: Command, profile: Profile) -> Reply:
        tables = await self._lists.tables_of(profile.id)
        resigned = [table.code for table in tables if table.phase == "playing"]
        left = [table.code for table in tables if table.phase == "open"]
        toast = private_toast(answer_place(command), profile.language)
        return Reply(toast, forget_page(profile.language, profile.id, resigned, left), private=True)

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Forget the person if they press "yes". Raises NotYourPage if another person was asked."""
        if len(words) != 2 or words[0] not in ("yes", "no"):
            raise BadPayload()
        if words[1] != owner_tag(profile.id):
            raise NotYourPage()
        private = not is_private(press.place)
        if words[0] == "no":
            return Reply(panel=not_forgotten_page(profile.language), private=private)
        await self._forgetter.begin(profile.id)
        return Reply(panel=forgotten_page(profile.language), private=private)
