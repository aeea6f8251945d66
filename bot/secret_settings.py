"""The settings that are secret: their files, and an environment without them."""

import os
from pathlib import Path
from typing import Any

ENCODING = "utf-8-sig"  # UTF-8, with or without a byte order mark
MAX_SECRET_BYTES = 65536  # limit for a secret's file; also ends the reading of a device

# The variable of each secret, by its field of `bot.settings.Settings`.
SECRETS = {
    "redis_url": "REDIS_URL",
    "telegram_token": "BUONGIOCO_TELEGRAM_TOKEN",
    "discord_token": "BUONGIOCO_DISCORD_TOKEN",
    "discord_client_secret": "BUONGIOCO_DISCORD_CLIENT_SECRET",
}


def secret_value(field: str, value: Any, path: Path | None) -> Any:
    """Return a secret, from its file if ``path`` is set.

    Raise ValueError if it is also set directly, or if the file cannot be read.
    """
    if path is None:
        return value
    file_variable = f"{SECRETS[field]}_FILE"
    if value:
        raise ValueError(f"must not be set together with {file_variable}: remove one of them")
    try:
        return _read_file(path)
    except ValueError as error:
        raise ValueError(f"must be in {path} ({file_variable}), and {error}") from None


def _read_file(path: Path) -> str:
    """Return the only word of a file. Raise ValueError with the reason if it cannot be read."""
    try:
        with path.expanduser().open("rb") as file:
            words = file.read(MAX_SECRET_BYTES + 1).decode(ENCODING).split()
    except FileNotFoundError:
        raise ValueError("this file does not exist") from None
    except IsADirectoryError:
        raise ValueError("this is a folder: name a file") from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"this file cannot be read ({reason}): give it to the bot's user, chmod 600") from None
    except UnicodeDecodeError:
        raise ValueError("this file is not text: write the secret into it") from None
    if not words:
        raise ValueError("this file is empty: write the secret into it")
    if len(words) > 1:
        raise ValueError("this file has more than one word: write only the secret into it")
    return words[0]


def environment_without_secrets() -> dict[str, str]:
    """Return the environment for child processes, which must not have the secrets."""
    return {name: value for name, value in os.environ.items() if name.upper() not in SECRETS.values()}


def drop_secrets() -> None:
    """Remove the secrets from the environment that all further child processes inherit."""
    for name in os.environ.keys() - environment_without_secrets().keys():
        del os.environ[name]
