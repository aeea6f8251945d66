"""Invitations to open tables, which people can forward."""

from collections.abc import Mapping

from bot.delivery.message_state import decode_state
from bot.delivery.surface_names import encode_name
from bot.delivery.surfaces import card_at
from bot.panels.challenge import invitation_panel
from bot.people import Profile
from bot.platform import Adapter, Reply, platform_of
from bot.private_replies import private_toast
from bot.store import Store
from bot.tables.table import Table


class Invitations:
    def __init__(self, store: Store, adapters: Mapping[str, Adapter]) -> None:
        self._store, self._adapters = store, adapters

    async def invitation(self, table: Table, profile: Profile, place: str) -> Reply:
        """Return the invitation that a person who asked at ``place`` gets in their private chat."""
        platform, shown = platform_of(place), await self._store.load_shown(table.code)
        addresses = []
        for host, host_place in enumerate(table.hosts):
            state = shown.get(encode_name(card_at(table, host)))
            if state and platform_of(host_place) == platform and (message := decode_state(state).message):
                addresses.append(self._adapters[platform].invitation_url(table.code, host_place, message))
        address = next(filter(None, addresses), "")
        panel = invitation_panel(table, profile.name, address, profile.language)
        toast = private_toast(place, profile.language)
        return Reply(panel=panel, private=True, is_to_pass_on=True, toast=toast)
