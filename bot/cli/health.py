"""`python -m bot.cli.health`: does the bot of this container do well? For Docker's health check."""

import sys
import urllib.request

from bot.settings import read_settings

TIMEOUT = 4.0
EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - where one listens on every address, also on this machine's own


def main() -> int:
    """0 if the bot answers that it is well; 1 otherwise, with what it said."""
    settings = read_settings()
    if settings.playground:
        host, port = settings.playground_host, settings.playground_port
    elif settings.telegram_token and settings.telegram_webhook_url:
        host, port = settings.telegram_webhook_host, settings.telegram_webhook_port
    else:
        # Nothing listens then; that the process runs is all that can be asked.
        return 0
    address = "127.0.0.1" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    try:
        with urllib.request.urlopen(f"http://{address}:{port}/healthz", timeout=TIMEOUT) as answer:
            print(answer.read().decode())  # noqa: T201
            return 0
    except OSError as error:
        print(error)  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main())
