from marketplace.models.apps import (
    FROZEN_FIELDS,
    App,
    AppFields,
    AppQuerySet,
    AppTotals,
    AppVersion,
    CheckRun,
    Picture,
    ReadOnlyLogError,
    ReviewEntry,
    ReviewMessage,
    Submission,
    picture_path,
    picture_url,
)
from marketplace.models.members import Membership
from marketplace.models.releases import STEPS, Release, place_of

__all__ = [
    "FROZEN_FIELDS",
    "STEPS",
    "App",
    "AppFields",
    "AppQuerySet",
    "AppTotals",
    "AppVersion",
    "CheckRun",
    "Membership",
    "Picture",
    "ReadOnlyLogError",
    "Release",
    "ReviewEntry",
    "ReviewMessage",
    "Submission",
    "picture_path",
    "picture_url",
    "place_of",
]
