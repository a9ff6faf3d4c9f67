from marketplace.models.apps import (
    FROZEN_FIELDS,
    App,
    AppFields,
    AppQuerySet,
    AppTotals,
    AppVersion,
    Picture,
    picture_path,
    picture_url,
)
from marketplace.models.members import Membership
from marketplace.models.releases import STEPS, Release, place_of
from marketplace.models.submissions import CheckRun, ReadOnlyLogError, ReviewEntry, ReviewMessage, Submission
