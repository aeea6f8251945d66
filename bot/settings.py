"""What a host can set, in the environment or in a file `.env` beside where the bot is started."""

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "BUONGIOCO_"
STORE_SCHEMES = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster")


class BadSetting(Exception):
    """A setting that cannot be: one line that names it and says what it may be, and never its secret part.

    ``word`` says in a few words what is wrong, such as "token refused".
    """

    def __init__(self, line: str, word: str = "bad setting") -> None:
        super().__init__(line)
        self.word = word


def _data_folder() -> Path:
    """Where programs keep data by the XDG base directory specification."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "buongioco"


class Shards(NamedTuple):
    """The shards of a platform's events that a worker takes: ``ids`` of ``total`` in all."""

    ids: range
    total: int

    @classmethod
    def of(cls, text: str) -> "Shards":
        """From ``0-3/8``, shards 0 to 3 of eight; ValueError for what is no such thing."""
        found = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?/(\d{1,5})", text.strip())
        if found is None:
            raise ValueError("reads as first-last/count, such as 0-3/8 for the first four of eight shards")
        first, total = int(found[1]), int(found[3])
        ids = range(first, int(found[2] or first) + 1)
        if not ids or ids[-1] >= total:
            raise ValueError(f"names shards that are not there: with {total} they are 0 to {total - 1}")
        return cls(ids, total)


class Settings(BaseSettings):
    """The settings; `.env.example` says the same to hosts."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", hide_input_in_errors=True)

    data: Path = Field(default_factory=_data_folder, description="the folder of the embedded store")
    redis_url: str | None = Field(None, validation_alias="REDIS_URL", description="a store of one's own")
    store_replicas: int = Field(
        0, ge=0, le=5, description="how many of the store's replicas must have a move before it is answered"
    )

    telegram_token: SecretStr | None = Field(None, description="the bot's token from BotFather")
    telegram_api_url: str = Field("https://api.telegram.org", description="the Bot API server")
    telegram_webhook_url: str | None = Field(None, description="where Telegram brings updates to, in place of polling")
    telegram_webhook_host: str = Field("127.0.0.1", description="the address on which they are taken")
    telegram_webhook_port: int = Field(8443, ge=0, le=65535, description="its port")
    discord_token: SecretStr | None = Field(None, description="the bot's token from Discord's developer portal")
    discord_api_url: str = Field("https://discord.com/api/v10", description="the base of Discord's REST API")
    discord_shards: str | None = Field(None, description="the shards that this worker takes, such as 0-3/8")
    playground: bool = Field(True, description="whether the playground is served")
    playground_host: str = Field("127.0.0.1", description="the address it listens on; 0.0.0.0 opens it to the network")
    playground_port: int = Field(8765, ge=0, le=65535, description="its port")
    public_url: str | None = Field(None, description="the playground's address behind a reverse proxy")
    rate_limits: bool = Field(True, description="whether floods of presses and commands are refused; off for benches")
    forget_after: str | None = Field(None, description="days, such as 730d, after which unused profiles are forgotten")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="what is logged")

    @field_validator("redis_url")
    @classmethod
    def _is_a_store(cls, url: str | None) -> str | None:
        if url and urlsplit(url).scheme not in STORE_SCHEMES:
            raise ValueError(f"begins with none of {', '.join(f'{scheme}://' for scheme in STORE_SCHEMES)}")
        return url or None

    @field_validator("telegram_token", "discord_token")
    @classmethod
    def _is_a_token(cls, token: SecretStr | None) -> SecretStr | None:
        text = token.get_secret_value().strip() if token else ""
        if any(char.isspace() for char in text):
            raise ValueError("is not a token: there is a space in it")
        return SecretStr(text) if text else None

    @field_validator("telegram_api_url", "discord_api_url")
    @classmethod
    def _is_a_server(cls, url: str) -> str:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ValueError("is not the address of a server, such as http://127.0.0.1:8081")
        return url.rstrip("/")

    @field_validator("discord_shards")
    @classmethod
    def _are_shards(cls, text: str | None) -> str | None:
        if text:
            Shards.of(text)
        return text or None

    @field_validator("telegram_webhook_url")
    @classmethod
    def _is_a_webhook(cls, url: str | None) -> str | None:
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("is not an address that Telegram could reach, such as https://cards.example.org/telegram")
        return url or None

    @field_validator("public_url")
    @classmethod
    def _is_a_public_address(cls, url: str | None) -> str | None:
        if not url:
            return None
        parts = urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError("is not the address of a site, such as https://cards.example.org")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError(
                "has a path: the playground needs a name or a port of its own, such as https://cards.example.org"
            )
        # As browsers write it, so that it can be compared.
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname.encode("idna").decode()
        return f"{parts.scheme}://{name}" + (f":{parts.port}" if parts.port is not None else "")

    @field_validator("forget_after")
    @classmethod
    def _are_days(cls, text: str | None) -> str | None:
        if text and (not re.fullmatch(r"[0-9]{1,5}d", text.strip()) or not int(text.strip()[:-1])):
            raise ValueError("reads as a number of days, such as 730d")
        return (text or "").strip() or None

    @property
    def forget_after_days(self) -> int | None:
        """After how many days an unused profile is forgotten; None for never."""
        return int(self.forget_after[:-1]) if self.forget_after else None

    @field_validator("data")
    @classmethod
    def _expands(cls, folder: Path) -> Path:
        return folder.expanduser()


def names() -> list[str]:
    """The variables that are settings."""
    return [str(field.validation_alias or f"{PREFIX}{name}".upper()) for name, field in Settings.model_fields.items()]


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings as they are; BadSetting for the first that cannot be, or that is none."""
    known = names()
    for name in os.environ if environment is None else environment:
        if name.startswith(PREFIX) and name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(known)}"
            raise BadSetting(f"{name} is not a setting{hint}")
    try:
        return Settings()
    except ValidationError as error:
        fault = error.errors(include_input=False)[0]
        name = str(fault["loc"][0])
        variable = name if name in known else f"{PREFIX}{name}".upper()
        raise BadSetting(f"{variable} {fault['msg'].removeprefix('Value error, ')}") from None
