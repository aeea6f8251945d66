"""Each command, page, verb, loop and /mydata field belongs to one feature or to the core."""

from collections import Counter
from pathlib import Path

import bot.features
from bot.command_names import COMMANDS
from bot.features.daily import keys as daily_keys
from bot.handlers import Dispatcher
from bot.settings import Settings
from bot.store import Store
from bot.store.keys import PERSON_KEY_PREFIXES
from bot.worker import Worker

FOLDERS = Path(bot.features.__file__).parent


def make_worker(store: Store) -> Worker:
    return Worker(store, Settings(_env_file=None))


async def test_every_folder_is_one_registered_feature(store: Store) -> None:
    folders = {path.name for path in FOLDERS.iterdir() if (path / "feature.py").exists()}
    feature_names = [feature.name for feature in make_worker(store).features]
    assert sorted(feature_names) == sorted(folders), (
        "bot/registry.py must list the feature of every folder in bot/features"
    )


async def test_every_command_has_one_handler(store: Store) -> None:
    worker = make_worker(store)
    commands = [command for feature in worker.features for command in feature.commands]
    handled = Dispatcher(worker)._handlers
    assert sorted(handled) == sorted(spec.name for spec in COMMANDS), "bot/command_names.py and the handlers must agree"
    duplicates = [command for command, count in Counter(commands).items() if count > 1]
    assert not duplicates, f"two features have the command {duplicates}: rename one of them"


async def test_no_two_features_claim_the_same_name(store: Store) -> None:
    features = make_worker(store).features
    claims = {
        "page": [name for feature in features for name in feature.pages],
        "verb": [name for feature in features for name in feature.verbs],
        "start word": [name for feature in features for name in feature.start_words],
        "loop": [name for feature in features for name in feature.loops],
    }
    duplicates = [(kind, name) for kind, names in claims.items() for name, count in Counter(names).items() if count > 1]
    assert not duplicates, f"two features claim {duplicates}: rename one of them"
    assert len(claims["page"]) > 8


async def test_mydata_fields_belong_to_one_feature(store: Store) -> None:
    fields = [name for feature in make_worker(store).features for name in await feature.mydata("paper:1", 0.0)]
    duplicates = [name for name, count in Counter(fields).items() if count > 1]
    assert not duplicates, f"two features add {duplicates} to the file of /mydata: rename one of them"
    assert len(fields) > 8


def test_backups_know_features_keys_of_people() -> None:
    assert {daily_keys.days(""), daily_keys.requests_of_person("")} <= set(PERSON_KEY_PREFIXES)
