"""The host's settings, from the environment or from `.env` in the current folder."""

import os
import re
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.secret_settings import ENCODING, SECRETS, secret_value

PREFIX = "BUONGIOCO_"
ENV_FILE = Path(".env")
STORE_SCHEMES = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster")


TELEGRAM_API = "api.telegram.org"
PUBLIC_APIS = (TELEGRAM_API, "discord.com")
WEBHOOK_PORTS = (443, 80, 88, 8443)  # ports to which Telegram sends updates: core.telegram.org/bots/api#setwebhook

NOTHING_TO_RUN = (
    "There is nothing to run: set BUONGIOCO_TELEGRAM_TOKEN or BUONGIOCO_DISCORD_TOKEN, or remove "
    "BUONGIOCO_PLAYGROUND=false."
)

MONITORING_REMEDY = "set BUONGIOCO_MONITORING_PORT or BUONGIOCO_MONITORING_HOST"


class BadSetting(Exception):
    """Invalid settings.

    The text has a line for each, without secrets. ``reason`` is short, such as "token refused".
    """

    def __init__(self, text: str, reason: str = "bad setting") -> None:
        super().__init__(text)
        self.reason = reason


def _data_folder() -> Path:
    """Return the data folder according to the XDG base directory specification."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "buongioco"


class GatewayShards(NamedTuple):
    """The shards of a platform's events that a worker receives: ``ids`` of ``total``."""

    ids: range
    total: int

    @classmethod
    def parse(cls, text: str) -> "GatewayShards":
        """Parse ``0-3/8``, shards 0 to 3 of eight. Raise ValueError if malformed."""
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?/(\d{1,5})", text.strip())
        if match is None:
            raise ValueError("must be first-last/count, such as 0-3/8 for the first four of eight shards")
        first_shard, total = int(match[1]), int(match[3])
        ids = range(first_shard, int(match[2] or first_shard) + 1)
        if not ids or ids[-1] >= total:
            raise ValueError(f"must name shards below {total} in ascending order, because they count from 0")
        return cls(ids, total)


class Settings(BaseSettings):
    """The settings. `.env.example` documents them for hosts."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=ENV_FILE, env_file_encoding=ENCODING, extra="ignore", hide_input_in_errors=True
    )

    data: Path = Field(default_factory=_data_folder, description="the folder of the embedded store")
    redis_url_file: Path | None = Field(None, validation_alias="REDIS_URL_FILE", description="the file with REDIS_URL")
    redis_url: str | None = Field(
        None,
        validate_default=True,
        validation_alias="REDIS_URL",
        description="the URL of a Redis-compatible store that the host runs",
    )
    store_replicas: int = Field(
        0, ge=0, le=5, description="how many of the store's replicas must confirm a move before it is answered"
    )

    telegram_token_file: Path | None = Field(None, description="the file with the token")
    telegram_token: SecretStr | None = Field(None, validate_default=True, description="the bot's token from BotFather")
    telegram_api_url: str = Field("https://api.telegram.org", description="the Bot API server")
    telegram_webhook_url: str | None = Field(
        None, description="the address to which Telegram sends updates; if unset, the bot polls"
    )
    telegram_webhook_host: str = Field("127.0.0.1", description="the address on which updates are received")
    telegram_webhook_port: int = Field(8443, ge=0, le=65535, description="the port on which updates are received")
    telegram_widgets: bool = Field(False, description="whether hands are Telegram widgets, an experiment")
    telegram_rich_messages: bool = Field(
        False, description="whether Telegram shows some pages as rich messages, an experiment"
    )
    telegram_table_topics: bool = Field(
        False, description="whether each table has a topic in the private chat on Telegram, an experiment"
    )
    discord_token_file: Path | None = Field(None, description="the file with the token")
    discord_token: SecretStr | None = Field(
        None, validate_default=True, description="the bot's token from Discord's developer portal"
    )
    discord_api_url: str = Field("https://discord.com/api/v10", description="the base of Discord's REST API")
    discord_shards: str | None = Field(None, description="the shards that this worker takes, such as 0-3/8")
    discord_activity: bool = Field(False, description="whether the web table opens inside Discord, as an Activity")
    discord_client_secret_file: Path | None = Field(None, description="the file with the client secret")
    discord_client_secret: SecretStr | None = Field(
        None, validate_default=True, description="the application's client secret, for the Activity"
    )
    playground: bool = Field(True, description="whether the playground is served")
    playground_host: str = Field(
        "127.0.0.1", description="the address on which the playground listens; 0.0.0.0 opens it to the network"
    )
    playground_port: int = Field(8765, ge=0, le=65535, description="the playground's port")
    public_url: str | None = Field(None, description="the site's address behind a reverse proxy")
    monitoring_host: str = Field("127.0.0.1", description="the address on which /healthz and /metrics are served")
    monitoring_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="a port only for /healthz and /metrics; if unset, the playground or the webhook serves them",
    )
    monitoring_names: str = Field("", description="other host names under which /healthz and /metrics answer")
    rate_limits: bool = Field(True, description="whether to refuse floods of presses and commands; off for benchmarks")
    analyse_results: bool = Field(
        True, description="whether group results and pages of past days also show how well everyone played"
    )
    forget_after: str | None = Field(None, description="days, such as 730d, after which unused profiles are forgotten")
    time_zone: str = Field("Europe/Rome", description="the time zone in which days end, for the deal of the day")
    reports_to: str | None = Field(
        None, description="the person, such as telegram:42, to whom reports about strangers are sent"
    )
    contact: str = Field(
        "", max_length=100, description="whom banned people can ask, such as @anna or an email address"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="the lowest level that is logged"
    )

    @field_validator(
        "redis_url_file", "telegram_token_file", "discord_token_file", "discord_client_secret_file", mode="before"
    )
    @classmethod
    def _empty_path_is_none(cls, path: Path | str | None) -> Path | str | None:
        return path or None

    @field_validator("redis_url", "telegram_token", "discord_token", "discord_client_secret", mode="before")
    @classmethod
    def _read_secret(cls, value: Any, info: ValidationInfo) -> Any:
        return secret_value(str(info.field_name), value, info.data.get(f"{info.field_name}_file"))

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, url: str | None) -> str | None:
        if not url:
            return None
        scheme, _separator, location = url.partition("://")
        if scheme not in STORE_SCHEMES:
            raise ValueError(f"must begin with one of {', '.join(f'{scheme}://' for scheme in STORE_SCHEMES)}")
        # A password with / # ? or @ is parsed as a host name, port or path, and shown in errors.
        is_split = "@" in "".join(re.split("([/?#])", location, maxsplit=1)[1:]) or "#" in location
        if is_split or not _is_store_url(url):
            raise ValueError(
                "must be the address of a store, such as redis://127.0.0.1:6379/0; write / # ? @ in a password as %2F "
                "%23 %3F %40"
            )
        return url

    @field_validator("monitoring_port", mode="before")
    @classmethod
    def _empty_port_is_none(cls, port: int | str | None) -> int | str | None:
        return None if port == "" else port

    @field_validator("monitoring_names")
    @classmethod
    def _check_monitoring_names(cls, text: str) -> str:
        names = text.replace(",", " ").lower().split()
        if not all(re.fullmatch(r"[a-z0-9._-]{1,253}", name) for name in names):
            raise ValueError("must be names without ports, such as bot or bot,cards.internal")
        return " ".join(names)

    @field_validator("time_zone")
    @classmethod
    def _check_time_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            # Zones are files: a folder's name, or an impossible file name, raises OSError.
            raise ValueError("must be a time zone's name, such as Europe/Rome or America/New_York") from None
        return name

    @field_validator("telegram_token", "discord_token", "discord_client_secret")
    @classmethod
    def _check_token(cls, token: SecretStr | None) -> SecretStr | None:
        text = token.get_secret_value().strip() if token else ""
        if any(char.isspace() for char in text):
            raise ValueError("must be a token without spaces: copy it again")
        return SecretStr(text) if text else None

    @field_validator("telegram_api_url", "discord_api_url")
    @classmethod
    def _check_api_url(cls, url: str) -> str:
        url = url.strip()
        address = _web_address(url)
        if address is None or address.query or address.fragment:
            raise ValueError("must be the address of a server, such as http://127.0.0.1:8081")
        if address.scheme == "http" and address.hostname in PUBLIC_APIS:
            raise ValueError(f"must begin with https://, because {address.hostname} gets the bot's token")
        return url.rstrip("/")

    @field_validator("discord_shards")
    @classmethod
    def _check_discord_shards(cls, text: str | None) -> str | None:
        if text:
            GatewayShards.parse(text)
        return text or None

    @field_validator("telegram_webhook_url")
    @classmethod
    def _check_webhook_url(cls, url: str | None, info: ValidationInfo) -> str | None:
        url = (url or "").strip()
        if not url:
            return None
        address = _web_address(url)
        if address is None or address.fragment:
            raise ValueError("must be an address that Telegram can reach, such as https://cards.example.org/telegram")
        if urlsplit(info.data.get("telegram_api_url", "")).hostname == TELEGRAM_API:
            _check_telegram_accepts(address)
        # The host's own Bot API server can run with --local and then accepts any address.
        return url

    @field_validator("telegram_webhook_host", "playground_host", "monitoring_host")
    @classmethod
    def _check_listen_host(cls, host: str) -> str:
        host = host.strip()
        if re.search(r"[/\s@\[\]]", host) or host.count(":") == 1:
            raise ValueError(
                "must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, without http:// or port"
            )
        return host

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, url: str | None) -> str | None:
        if not url:
            return None
        address = _web_address(url.strip())
        if address is None or not address.hostname:
            raise ValueError("must be the address of a site, such as https://cards.example.org")
        if address.path not in ("", "/") or address.query or address.fragment:
            raise ValueError(
                "must be an address without a path, because the site needs its own name or port, such as "
                "https://cards.example.org"
            )
        # Normalize the name as browsers do, because it is compared with what they send.
        name = f"[{address.hostname}]" if ":" in address.hostname else address.hostname.encode("idna").decode()
        return f"{address.scheme}://{name}" + (f":{address.port}" if address.port is not None else "")

    @field_validator("forget_after")
    @classmethod
    def _check_forget_after(cls, text: str | None) -> str | None:
        if text and (not re.fullmatch(r"[0-9]{1,5}d", text.strip()) or not int(text.strip()[:-1])):
            raise ValueError("must be a number of days, such as 730d")
        return (text or "").strip() or None

    @field_validator("reports_to")
    @classmethod
    def _check_reports_to(cls, text: str | None) -> str | None:
        if text and not re.fullmatch(r"[a-z][a-z0-9_-]*:[^\s:@~!/]+", text.strip()):
            raise ValueError("must be a person, such as telegram:42; yours is `person` in the file that /mydata sends")
        return (text or "").strip() or None

    @property
    def permitted_monitoring_names(self) -> frozenset[str]:
        return frozenset(self.monitoring_names.split())

    @property
    def forget_after_days(self) -> int | None:
        """Days after which an unused profile is forgotten; None for never."""
        return int(self.forget_after[:-1]) if self.forget_after else None

    @property
    def store_location(self) -> str:
        """Where the store is, as shown in messages; never with its password."""
        address = urlsplit(self.redis_url or "")
        if not self.redis_url:
            return f"in {self.data}"
        return f"at {address.hostname}:{address.port or 6379}" if address.hostname else f"at {address.path}"

    @field_validator("data", mode="before")
    @classmethod
    def _expand_data_folder(cls, folder: str | Path) -> Path:
        try:
            return Path(folder).expanduser() if folder else _data_folder()
        except RuntimeError:
            raise ValueError("must be a folder; this machine has no user with the name after ~") from None


def _web_address(url: str) -> SplitResult | None:
    """Return the parts of an http or https address; None for any other text and for an address with a password."""
    try:
        address = urlsplit(url)
        is_address = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        # An invalid port, or brackets without an IPv6 address.
        return None
    has_forbidden_part = address.username is not None or re.search(r"\s", url)
    return address if is_address and not has_forbidden_part else None


def _check_telegram_accepts(address: SplitResult) -> None:
    """Raise ValueError for a webhook address that Telegram refuses.

    Telegram connects by https and IPv4, and only to some ports (core.telegram.org/bots/webhooks). It refuses addresses
    of private networks.
    """
    if address.scheme != "https":
        raise ValueError(
            "must begin with https://, because Telegram requires it: put a web server with a certificate in front "
            "of the bot, as docs/telegram.md shows"
        )
    if address.port not in (None, *WEBHOOK_PORTS):
        ports = ", ".join(map(str, WEBHOOK_PORTS[:-1]))
        raise ValueError(f"must have port {ports} or {WEBHOOK_PORTS[-1]}, because Telegram connects to no other port")
    name = address.hostname or ""
    try:
        is_public = isinstance(ip := ip_address(name), IPv4Address) and ip.is_global
    except ValueError:
        is_public = "." in name and not name.endswith((".local", ".localhost"))
    if not is_public:
        raise ValueError(f"must be an address that Telegram can reach from the internet by IPv4, and {name} is not")


def _is_store_url(url: str) -> bool:
    """Return whether the store's client accepts an address. Its own error could repeat a password."""
    from redis.asyncio import ConnectionPool, RedisCluster  # noqa: PLC0415 - only with the host's own store
    from redis.exceptions import RedisClusterException, RedisError  # noqa: PLC0415 - as above

    try:
        if "+cluster" in url.partition("://")[0]:
            RedisCluster.from_url(url.replace("+cluster", "", 1))
        else:
            pool: Any = ConnectionPool.from_url(url)
            pool.make_connection()
    except (ValueError, TypeError, RedisError, RedisClusterException):
        return False
    return True


def variable_names() -> list[str]:
    return [str(field.validation_alias or f"{PREFIX}{name}".upper()) for name, field in Settings.model_fields.items()]


def secret_files(settings: Settings) -> dict[str, Path]:
    """Return the files of secrets by the variable that names them."""
    files = {f"{name}_FILE": getattr(settings, f"{field}_file") for field, name in SECRETS.items()}
    return {name: path.expanduser() for name, path in files.items() if path}
