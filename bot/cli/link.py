"""`buongioco link`: the host's link to an open playground."""

from bot.cli.output import say
from bot.cli.store_commands import report_errors
from bot.settings import BadSetting
from bot.settings_reader import read_settings
from bot.site.host_link import link_path
from bot.store import StoreError
from bot.store.folder import is_locked


def link() -> None:
    """Print the host's secret link to a playground that is open to others. It changes at each start."""
    with report_errors():
        settings = read_settings()
        path = link_path(settings.data)
        try:
            stored_link = path.read_text().strip()
        except OSError:
            raise BadSetting(
                f"There is no link: {path} exists while a bot runs with a playground open to others "
                "(BUONGIOCO_PLAYGROUND_HOST or BUONGIOCO_PUBLIC_URL). A playground for this machine alone needs no "
                f"link: http://127.0.0.1:{settings.playground_port}/chat"
            ) from None
        # If the host runs a separate store, no bot locks the folder.
        if settings.redis_url is None and not is_locked(settings.data):
            raise StoreError(
                f"No bot is running with the data folder {settings.data}. The link in {path} belongs to a bot that was "
                "killed, and no longer works. Start the bot and run this again."
            )
        say(stored_link)
