"""`buongioco daily`: the public part of the chain of daily secrets."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.cli.output import format_count, say
from bot.cli.store_commands import open_store_client, store_command
from bot.features.daily.days import load_chain
from bot.features.daily.game_of_day import DayGames
from bot.features.daily.store import DayResults
from bot.settings_reader import read_settings
from bot.store import StoreError, keys
from bot.store.leases import Leases


@store_command
async def daily() -> None:
    """Print the end of the chain to publish, today's game, how many have played it, and yesterday's secret."""
    settings = read_settings()
    async with open_store_client(settings) as client:
        # Use the bot's date. In another time zone, yesterday can be the bot's today, whose secret must stay hidden.
        leases = Leases(client)
        zone = max(await leases.worker_zones(), default="") or settings.time_zone
        day = datetime.fromtimestamp(await leases.current_time(), ZoneInfo(zone)).date()
        if not await client.exists(keys.SCHEMA):
            # Loading a chain would create it, perhaps in a store that the bot does not use.
            raise StoreError(f"No bot has used the store {settings.store_location} yet. Start the bot first.")
        chain = await load_chain(client, day)
        game = await DayGames(client).todays_game(day)
        player_count = len(await DayResults(client).ranking(day))
    yesterday = day - timedelta(days=1)
    say(f"chain from {chain.first} to {chain.last}, end {chain.end}")
    say(f"today {day}, {zone}: {game}, played by {format_count(player_count, 'player')}")
    if yesterday >= chain.first:
        say(f"yesterday's secret {chain.secret(yesterday).hex()}")
