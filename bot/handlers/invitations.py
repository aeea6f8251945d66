"""Invitations to open tables, which people can forward."""

from collections.abc import Mapping

from cachetools import LRUCache

from bot.delivery.message_state import decode_state
from bot.delivery.surface_names import encode_name
from bot.delivery.surfaces import card_at
from bot.panel import Panel
from bot.panels.challenge import invitation_panel
from bot.people import Profile
from bot.platform import Adapter, Reply, platform_of
from bot.private_replies import private_toast
from bot.store import Store
from bot.tables.table import Table

REMEMBERED = 10_000  # invitations kept in memory


class Invitations:
    def __init__(self, store: Store, adapters: Mapping[str, Adapter]) -> None:
        self._store, self._adapters = store, adapters
        self._sent: LRUCache[tuple[str, str], tuple[str, Panel]] = LRUCache(REMEMBERED)

    async def invitation(self, table: Table, profile: Profile, place: str) -> Reply:
        """Return the invitation that a person who asked at ``place`` gets in their private chat."""
        platform, shown = platform_of(place), await self._store.load_shown(table.code)
        addresses = []
        for host, host_place in enumerate(table.hosts):
            if platform_of(host_place) == platform:
                state = shown.get(encode_name(card_at(table, host)))
                message = decode_state(state).message if state else ""
                addresses.append(self._adapters[platform].invitation_url(table.code, host_place, message))
        address = next(filter(None, addresses), "")
        panel = invitation_panel(table, profile.name, address, profile.language)
        toast = private_toast(place, profile.language)
        return Reply(panel=panel, private=True, is_to_pass_on=True, toast=toast)

    async def send_below_card(self, table: Table, profile: Profile, place: str, update: str) -> Reply:
        """Return the invitation below a card in a private chat, unless another update has sent the same one."""
        reply, key = await self.invitation(table, profile, place), (table.code, profile.id)
        assert reply.panel
        sent_by, sent = self._sent.get(key, (update, None))
        if sent_by != update and sent == reply.panel:
            return Reply()
        self._sent[key] = update, reply.panel
        return reply
