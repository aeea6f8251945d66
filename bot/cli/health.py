"""`python -m bot.cli.health`: Docker's health check."""

import json
import sys
from http.client import HTTPException, HTTPResponse
from urllib.request import ProxyHandler, build_opener

from bot.settings import BadSetting, Settings
from bot.settings_reader import read_settings

TIMEOUT_SECONDS = 4.0
MAX_HEALTH_BYTES = 65536  # bytes that are read from an answer

# Hosts that mean every address, and the loopback address to ask. A bot on ``::`` answers IPv6 only.
WILDCARD_HOSTS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing listens here


def health_url(host: str, port: int) -> str:
    """Return the URL at which this machine reaches /healthz of a bot that listens on ``host``."""
    address = WILDCARD_HOSTS.get(host, host)
    return f"http://{f'[{address}]' if ':' in address else address}:{port}/healthz"


def open_local_url(url: str) -> HTTPResponse:
    """Open a URL of this machine, as urlopen does, but without the environment's proxies, which run elsewhere."""
    answer: HTTPResponse = build_opener(ProxyHandler({})).open(url, timeout=TIMEOUT_SECONDS)
    return answer


def is_health(body: bytes) -> bool:
    """Return whether this is a bot's answer at /healthz, healthy or not."""
    try:
        answer = json.loads(body)
    except ValueError:
        return False
    return isinstance(answer, dict) and {"healthy", "store", "adapters"} <= answer.keys()


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
    """Print the bot's answer. Return 0 if the bot is healthy, otherwise 1."""
    try:
        settings = read_settings()
    except BadSetting as error:
        print(error)  # noqa: T201
        return 1
    address = health_address(settings)
    if address is None:
        print("/healthz is not served. Set BUONGIOCO_MONITORING_PORT.")  # noqa: T201
        return 1
    try:
        with open_local_url(health_url(*address)) as answer:
            print(answer.read(MAX_HEALTH_BYTES).decode())  # noqa: T201
            return 0
    except (OSError, HTTPException) as error:
        print(error)  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main())
