"""`buongioco doctor`: check settings, store and platforms."""

import asyncio
import errno
import os
import socket
import stat
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from http.client import HTTPException
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from redis.exceptions import RedisError

from bot.cli.health import MAX_HEALTH_BYTES, TIMEOUT_SECONDS, health_address, health_url, is_health, open_local_url
from bot.cli.output import format_time, say
from bot.cli.store_commands import store_command
from bot.features.tournaments.store import Tournaments
from bot.platform import ADAPTER_GROUP
from bot.running.own_packages import ForeignPackage, check_own_packages
from bot.settings import MONITORING_REMEDY, NOTHING_TO_RUN, PREFIX, BadSetting, Settings, secret_files
from bot.settings_reader import read_settings
from bot.store import EmbeddedStore, Store, StoreError, keys, open_store
from bot.store.folder import has_store, is_locked, is_readable_by_others
from bot.store.host_access import open_host_store
from bot.store.risks import RISKS, risks_of, split_by_node, sync_policies

# Entry points of functions that check a platform. They get the settings and yield findings like `examine`.
DOCTORS = "buongioco.doctors"

BAD_GATEWAY_CODES = (502, 503, 504)  # a proxy's answers when it reaches no bot

PLAYGROUND_REMEDY = "set BUONGIOCO_PLAYGROUND_PORT or BUONGIOCO_PLAYGROUND_HOST, or BUONGIOCO_PLAYGROUND=false"

BUILT_IN_PLATFORMS = {"web", "telegram", "discord"}  # all others come from other packages


@store_command
async def doctor() -> None:
    """Check settings, store and platforms, and say how to fix each problem. Exit 1 if there is a problem."""
    try:
        settings = read_settings()
    except BadSetting as error:
        for line in str(error).splitlines():
            say(f"wrong  {line}")
        raise typer.Exit(1) from None
    is_healthy, broken_pipe = True, None
    async for is_ok, line in examine(settings):
        is_healthy = is_healthy and is_ok
        try:
            if broken_pipe is None:
                say(f"{'ok' if is_ok else 'wrong':6} {line}")
        except BrokenPipeError as error:
            # Stdout was closed, as by `| head`. Continue, so that a store started for this check is stopped properly.
            broken_pipe = error
    if broken_pipe:
        raise broken_pipe
    if not is_healthy:
        raise typer.Exit(1)


async def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    """Yield findings: whether a check passed, and a line with its result or remedy."""
    installed_platforms = {entry.name for entry in entry_points(group=ADAPTER_GROUP)}
    try:
        check_own_packages()
    except ForeignPackage as error:
        yield False, f"packages: {error}"
    yield True, f"settings: {'the' if settings.redis_url else 'an embedded'} store {settings.store_location}"
    for name, path in secret_files(settings).items():
        yield _examine_secret_file(name, path)
    async for finding in _examine_store(settings):
        yield finding
    async for finding in _examine_tokens(settings, installed_platforms):
        yield finding
    if settings.playground:
        host, port = settings.playground_host, settings.playground_port
        yield await asyncio.to_thread(_examine_port, settings, "playground", host, port, PLAYGROUND_REMEDY)
        if settings.public_url:
            yield await asyncio.to_thread(_examine_public_address, settings.public_url)
    elif not (settings.telegram_token or settings.discord_token or installed_platforms - BUILT_IN_PLATFORMS):
        yield False, NOTHING_TO_RUN
    if settings.monitoring_port is not None:
        host, port = settings.monitoring_host, settings.monitoring_port
        yield await asyncio.to_thread(_examine_port, settings, "monitoring", host, port, MONITORING_REMEDY)
    elif health_address(settings) is None:
        yield True, "monitoring: /healthz is not served; set BUONGIOCO_MONITORING_PORT to have it"
    plain = "searches run in plain Python, so strong robots think less; the extra `fast` (numba) compiles them"
    yield True, f"robots: {'searches are compiled' if find_spec('numba') else plain}"


def _examine_secret_file(name: str, path: Path) -> tuple[bool, str]:
    """Check who can read a secret's file.

    Only files of the current user are checked, which excludes Docker's secrets.
    """
    status = path.stat()
    is_own_file = status.st_uid == os.getuid() and stat.S_ISREG(status.st_mode)
    if is_own_file and status.st_mode & (stat.S_IRGRP | stat.S_IROTH):
        return False, f"settings: others can read {path} ({name}): run `chmod 600 {path}`"
    return True, f"settings: {name} is {path}"


def _examine_port(settings: Settings, name: str, host: str, port: int, remedy: str) -> tuple[bool, str]:
    """Check whether the bot can listen at an address, or already does."""
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return True, f"{name}: {url}, and the port is free"
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            return False, f"{name}: it cannot listen on {host}, port {port} ({error.strerror}): {remedy}"
    if not _is_bot(host, port):
        return False, f"{name}: another program listens on {host}, port {port}: end it, or {remedy}"
    if settings.redis_url or is_locked(settings.data):
        return True, f"{name}: {url}, and a bot is serving it"
    return False, f"{name}: a bot with another data folder listens on {host}, port {port}: end it, or {remedy}"


def _examine_public_address(url: str) -> tuple[bool, str]:
    """Fetch a page at the public address. A proxy can answer even if no bot runs."""
    request = urllib.request.Request(f"{url}/rules", headers={"Accept": "text/html"})  # noqa: S310 - http or https
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):  # noqa: S310
            pass
    except urllib.error.HTTPError as error:
        if error.code in BAD_GATEWAY_CODES:
            return True, f"pages: a proxy answers at {url}; no bot runs behind it now"
        return False, (
            f"pages: {url} answers {error.code} ({error.reason}). Check that the proxy leads to this bot and passes on "
            "the Host header and X-Forwarded-Proto. See docs/hosting-configure.md"
        )
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        return False, f"pages: nothing answers at {url} ({reason}). Check that the name leads here and the proxy runs"
    if url.startswith("https://"):
        return True, f"pages: people reach them at {url}, also inside Telegram"
    return True, f"pages: people reach them at {url}; Telegram needs https to open them inside the app"


def _is_bot(host: str, port: int) -> bool:
    try:
        with open_local_url(health_url(host, port)) as answer:
            return is_health(answer.read(MAX_HEALTH_BYTES))
    except urllib.error.HTTPError as error:
        return is_health(error.read(MAX_HEALTH_BYTES))
    except (OSError, HTTPException):
        return False


async def _examine_store(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    try:
        if not settings.redis_url:
            is_ok, line = _examine_folder(settings.data)
            yield is_ok, line
            if not is_ok:
                return
        with TemporaryDirectory(prefix="buongioco-") as folder:
            if not settings.redis_url and is_locked(settings.data):
                opening = open_store(EmbeddedStore(settings.data).url, migrate=False)
            elif settings.redis_url or has_store(settings.data):
                opening = open_host_store(settings, migrate=False)
            else:
                # The bot has no store yet. Try one in a temporary folder.
                opening = open_host_store(settings.model_copy(update={"data": Path(folder)}), migrate=False)
            async with opening as store:
                async for finding in _examine_open_store(store, settings):
                    yield finding
    except StoreError as error:
        yield False, f"store: {error}"


def _examine_folder(folder: Path) -> tuple[bool, str]:
    """Check the embedded store's folder without changing it. Raises StoreError if the bot would refuse it."""
    if is_locked(folder):
        return True, "store: a bot is running with it"
    try:
        is_private = not folder.exists() or not is_readable_by_others(folder)
    except OSError as error:
        return False, f"store: the data folder {folder} cannot be used: {error.strerror}"
    if not has_store(folder):
        existing_folder = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not os.access(existing_folder, os.W_OK | os.X_OK):
            remedy = "give the bot's user write access, or set BUONGIOCO_DATA"
            return False, f"store: {existing_folder} is not writable: {remedy}"
        return True, f"store: there is none in {folder} yet; the bot creates it when it starts"
    if not is_private:
        remedy = f"run `chmod 700 {folder}`, or start the bot, which does it"
        return False, f"store: others can read the data folder {folder}: {remedy}"
    return True, "store: its folder is its owner's alone"


async def _examine_tokens(settings: Settings, installed_platforms: set[str]) -> AsyncIterator[tuple[bool, str]]:
    """Check which platforms will start. A token for a missing adapter is a fault."""
    examiners = {entry.name: entry.load() for entry in entry_points(group=DOCTORS)}
    for name, token in (("telegram", settings.telegram_token), ("discord", settings.discord_token)):
        setting = f"{PREFIX}{name}_token".upper()
        if token is None:
            yield True, f"{name}: off, because {setting} is not set"
        elif name in examiners:
            async for finding in examiners[name](settings):
                yield finding
        elif name in installed_platforms:
            yield True, f"{name}: the token is set"
        else:
            yield False, f"{name}: this version has no adapter for it: remove {setting}"


async def _examine_open_store(store: Store, settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    try:
        nodes = split_by_node(await store.client.info())
        risks, sync_settings = await risks_of(store.client), await sync_policies(store.client)
    except (RedisError, OSError) as error:
        yield False, f"store: one of its nodes does not answer ({type(error).__name__}): is it running?"
        return
    primaries = [node for node in nodes if node["role"] == "master"]
    if not primaries:
        yield False, "store: this is a replica, which takes no moves: REDIS_URL must name the primary"
        return
    if unreadable_tables := await store.set_aside_tables(range(keys.SHARDS)):
        yield (
            False,
            f"tables: {', '.join(unreadable_tables)} cannot be read and "
            f"{'is' if len(unreadable_tables) == 1 else 'are'} set aside: "
            "see `buongioco tables show CODE`; a newer version may read them, `buongioco tables close CODE` ends one",
        )
    if unreadable_tournaments := list(await Tournaments(store).unreadable_codes()):
        yield (
            False,
            f"tournaments: {', '.join(unreadable_tournaments)} cannot be read: a newer version may read "
            f"{'it' if len(unreadable_tournaments) == 1 else 'them'}, `buongioco tables close CODE` calls one off",
        )
    await store.levers.refresh()
    if notice := store.levers.maintenance:
        yield (
            True,
            f"maintenance: on since {format_time(notice.since)} UTC, so nobody can open a table: "
            "`buongioco maintenance off` ends it",
        )
    if notice := store.levers.announcement:
        yield True, f"announcement: since {format_time(notice.since)} UTC: `buongioco announce --end` withdraws it"
    zones = {zone for zone in await store.leases.worker_zones() if zone}
    if settings.redis_url and (other_zones := ", ".join(sorted(zones - {settings.time_zone}))):
        yield (
            False,
            f"time zone: a running worker has BUONGIOCO_TIME_ZONE={other_zones}, here it is {settings.time_zone}. "
            "All workers need the same zone: stop all before you start one with another zone",
        )
    versions = {str(node.get("valkey_version") or node["redis_version"]) for node in nodes}
    yield True, f"store: answers, version {', '.join(sorted(versions))}"
    if "no_append_only_file" not in risks:
        yield True, "store: writes an append-only file"
        if sync_settings == {"always"}:
            yield True, "store: writes moves to disk before they are answered"
        elif not sync_settings:
            yield True, "store: it refuses CONFIG, so check yourself that appendfsync is always"
    for risk in risks:
        yield False, f"store: {RISKS[risk]}"
    min_replicas = min(int(node["connected_slaves"]) for node in primaries)
    if settings.redis_url and min_replicas < settings.store_replicas:
        yield (
            False,
            f"store: BUONGIOCO_STORE_REPLICAS is {settings.store_replicas}, and a primary has {min_replicas} "
            f"{'replica' if min_replicas == 1 else 'replicas'}: moves wait until you add replicas or lower the number",
        )
