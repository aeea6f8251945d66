"""Invitations to open tables, which people can forward."""

from collections.abc import Mapping

from cachetools import TTLCache

from bot.delivery.answer_queue import GIVE_UP_SECONDS
from bot.delivery.message_state import decode_state
from bot.delivery.surface_names import encode_name
from bot.delivery.surfaces import card_at
from bot.panels.challenge import invitation_panel
from bot.people import Profile
from bot.platform import Adapter, Reply, platform_of
from bot.private_replies import private_toast
from bot.store import Store
from bot.tables.table import Table
from bot.texts import texts

DIGESTS_REMEMBERED = 10_000  # digests of invitations kept in memory
REMEMBERED_SECONDS = GIVE_UP_SECONDS  # then an invitation that could not be sent can be requested again


class Invitations:
    def __init__(self, store: Store, adapters: Mapping[str, Adapter]) -> None:
        self._store, self._adapters = store, adapters
        # the update that sent each invitation
        self._sent: TTLCache[int, str] = TTLCache(DIGESTS_REMEMBERED, REMEMBERED_SECONDS)

    async def invitation(self, table: Table, profile: Profile, place: str) -> Reply:
        """Return the invitation, for the private chat of the person who asked at ``place``."""
        platform, states = platform_of(place), await self._store.load_shown(table.code)
        addresses = []
        for host, host_place in enumerate(table.hosts):
            if platform_of(host_place) == platform:
                state = states.get(encode_name(card_at(table, host)))
                message = decode_state(state).message if state else ""
                addresses.append(self._adapters[platform].invitation_url(table.code, host_place, message))
        address = next(filter(None, addresses), "")
        panel = invitation_panel(table, profile.name, address, profile.language)
        toast = private_toast(place, profile.language)
        return Reply(panel=panel, private=True, is_forwardable=True, toast=toast)

    async def send_below_card(self, table: Table, profile: Profile, place: str, update: str) -> Reply:
        """Return the invitation below a card in a private chat, unless another update has just sent the same one."""
        reply = await self.invitation(table, profile, place)
        assert reply.panel
        if self._sent.setdefault(hash((table.code, profile.id, reply.panel.digest)), update) != update:
            _ = texts(profile.language).gettext
            return Reply(_("You already have the invitation: /invite sends it again."))
        return reply
