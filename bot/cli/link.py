"""`buongioco link`: the host's link to a playground that is open to others."""

from bot.cli.errors import report_errors
from bot.cli.output import say
from bot.host_link import link_path
from bot.settings import BadSetting, read_settings
from bot.store import StoreError
from bot.store.folder import is_locked


def link() -> None:
    """Print the host's link to a playground that is open to others: a secret, and another one at each start."""
    with report_errors():
        settings = read_settings()
        path = link_path(settings.data)
        try:
            shown = path.read_text().strip()
        except OSError:
            raise BadSetting(
                f"There is no link: {path} is kept while a bot runs whose playground is open to others "
                "(BUONGIOCO_PLAYGROUND_HOST or BUONGIOCO_PUBLIC_URL). A playground for this machine alone needs none: "
                f"http://127.0.0.1:{settings.playground_port}/chat"
            ) from None
        # Where the store is the host's own, nobody locks the folder.
        if settings.redis_url is None and not is_locked(settings.data):
            raise StoreError(
                f"No bot is running with the data folder {settings.data}: the link in {path} is that of one that was "
                "killed, and opens nothing. Start the bot, and run this again."
            )
        say(shown)
