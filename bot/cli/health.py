"""`python -m bot.cli.health`: does the bot of this container do well? For Docker's health check."""

import json
import sys
from http.client import HTTPException, HTTPResponse
from urllib.request import ProxyHandler, build_opener

from bot.settings import BadSetting, Settings, read_settings

TIMEOUT = 4.0
MAX_HEALTH_BYTES = 65536
"""Bytes of an answer that are looked at."""

WILDCARD_HOSTS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - to be asked
"""Where one listens on every address, and which is this machine's own then: at ``::`` IPv6 alone is answered."""


def health_url(host: str, port: int) -> str:
    """Where a bot that listens so is asked from this machine."""
    address = WILDCARD_HOSTS.get(host, host)
    return f"http://{f'[{address}]' if ':' in address else address}:{port}/healthz"


def open_local_url(url: str) -> HTTPResponse:
    """What a bot on this machine answers; URLError as from urlopen. A proxy that the environment names is left out, for
    it would look for the bot on its own machine.
    """
    answer: HTTPResponse = build_opener(ProxyHandler({})).open(url, timeout=TIMEOUT)
    return answer


def is_health(body: bytes) -> bool:
    """Whether this is what a bot answers there, well or not."""
    try:
        said = json.loads(body)
    except ValueError:
        return False
    return isinstance(said, dict) and {"healthy", "store", "adapters"} <= said.keys()


def health_address(settings: Settings) -> tuple[str, int] | None:
    """Return the address and port at which a bot with these settings serves /healthz; None if nowhere."""
    if settings.monitoring_port is not None:
        return settings.monitoring_host, settings.monitoring_port
    if settings.playground:
        return settings.playground_host, settings.playground_port
    if settings.telegram_token and settings.telegram_webhook_url:
        return settings.telegram_webhook_host, settings.telegram_webhook_port
    return None


def main() -> int:
    """Return 0 if the bot answers that it does well, otherwise 1, and print what it said."""
    try:
        settings = read_settings()
    except BadSetting as error:
        print(error)  # noqa: T201
        return 1
    place = health_address(settings)
    if place is None:
        print("Nothing serves /healthz: set BUONGIOCO_MONITORING_PORT.")  # noqa: T201
        return 1
    try:
        with open_local_url(health_url(*place)) as answer:
            print(answer.read(MAX_HEALTH_BYTES).decode())  # noqa: T201
            return 0
    except (OSError, HTTPException) as error:
        print(error)  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main())
