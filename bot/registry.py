"""All features. A new one is a folder in `bot.features` and a line here."""

from collections.abc import Callable

from bot.core import Core
from bot.feature import Feature
from bot.features.analysis.feature import AnalysisFeature
from bot.features.daily.feature import DailyFeature
from bot.features.duels.feature import DuelsFeature
from bot.features.find.feature import FindFeature
from bot.features.learn.feature import LearnFeature
from bot.features.open_tables.feature import OpenTablesFeature
from bot.features.opponents.feature import OpponentsFeature
from bot.features.privacy.feature import PrivacyFeature
from bot.features.puzzles.feature import PuzzlesFeature
from bot.features.ratings.feature import RatingsFeature
from bot.features.settings.feature import SettingsFeature
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.web_push.feature import WebPushFeature

FEATURES: tuple[Callable[[Core], Feature], ...] = (
    DailyFeature,
    DuelsFeature,
    PuzzlesFeature,
    LearnFeature,
    TournamentsFeature,
    FindFeature,
    OpenTablesFeature,
    OpponentsFeature,
    RatingsFeature,
    AnalysisFeature,
    WebPushFeature,
    PrivacyFeature,
    SettingsFeature,
)
