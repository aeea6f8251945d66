"""The commands /forget and /mydata, and the buttons that follow them."""

from bot.actions import BadPayload
from bot.features.privacy.errors import AskedJustNow, NotYourPage
from bot.features.privacy.forgetting import Forgetter
from bot.features.privacy.mydata import COOLDOWN_SECONDS, MyData
from bot.features.privacy.pages import forget_page, forgotten_page, mydata_page, not_forgotten_page, owner_tag
from bot.people import People, Profile
from bot.platform import Reply, is_private
from bot.tables.table_lists import TableLists


class OwnData:
    def __init__(self, forgetter: Forgetter, mydata: MyData, lists: TableLists, people: People) -> None:
        self._forgetter, self.mydata, self._lists, self._people = forgetter, mydata, lists, people

    async def send_data(self, profile: Profile) -> Reply:
        """Send a person's data as a file. Raise AskedJustNow during the cooldown."""
        if not await self.mydata.start_cooldown(profile.id):
            raise AskedJustNow(seconds=COOLDOWN_SECONDS)
        tables = await self._lists.tables_of(profile.id)
        file = await self.mydata.file(profile.id, tables, self._people.now())
        return Reply(panel=mydata_page(profile.language), private=True, file=file)

    async def ask_to_forget(self, profile: Profile) -> Reply:
        tables = await self._lists.tables_of(profile.id)
        resigned = [table.code for table in tables if table.phase == "playing"]
        left = [table.code for table in tables if table.phase == "open"]
        return Reply(panel=forget_page(profile.language, profile.id, resigned, left), private=True)

    async def answer(self, place: str, profile: Profile, words: list[str]) -> Reply:
        """Handle the answer. Raise NotYourPage if another person was asked."""
        if len(words) != 2 or words[0] not in ("yes", "no"):
            raise BadPayload()
        if words[1] != owner_tag(profile.id):
            raise NotYourPage()
        private = not is_private(place)
        if words[0] == "no":
            return Reply(panel=not_forgotten_page(profile.language), private=private)
        await self._forgetter.begin(profile.id)
        return Reply(panel=forgotten_page(profile.language), private=private)
