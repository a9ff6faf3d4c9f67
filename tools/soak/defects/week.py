"""Defects that only time shows. Their run is a week."""

from typing import Final

from tests.faults.protections import Change
from tools.soak.defects.defect import Defect

GROUP: Final = "week"

DEFECTS: Final = {
    "old days of calls stay": Defect(
        GROUP,
        "partitions of activity_apicall that were dropped",
        (
            Change(
                "activity.services.retention",
                "    return remove_before(ApiCall, now - KEPT)\n",
                "    return 0\n",
            ),
        ),
    ),
    "weekly checks are planned and never made": Defect(
        GROUP,
        "each listed app has had its weekly check",
        (
            Change(
                "conformance.services.weekly",
                "    plan(now or timezone.now())\n",
                "    plan(now or timezone.now())\n    return 0\n",
            ),
        ),
    ),
    "an invitation works for a month": Defect(
        GROUP,
        "an invitation has expired",
        (
            Change(
                "accounts.models.people",
                "LASTS: Final = timedelta(days=7)",
                "LASTS: Final = timedelta(days=30)",
            ),
        ),
    ),
    "an export expires after half of its time": Defect(
        GROUP,
        "an export has expired",
        (
            Change(
                "appapi.services.exports",
                "_mine(export).update(expires_at=timezone.now() + EXPORTS_KEPT,",
                "_mine(export).update(expires_at=timezone.now() + EXPORTS_KEPT / 2,",
            ),
        ),
    ),
    "a shop's key of before works on": Defect(
        GROUP,
        "the key of a shop that was changed no longer works",
        (
            Change(
                "accounts.services.shops",
                "OVERLAP: Final = timedelta(hours=24)",
                "OVERLAP: Final = timedelta(days=24)",
            ),
        ),
    ),
    "no partition is made ahead": Defect(
        GROUP,
        "partitions ahead that were not made again",
        (
            Change(
                "common.db.partitions",
                "        if is_split(model, using=using):\n            try:\n                made",
                "        if is_split(model, using=using) and not existing(model, using=using):\n            try:\n                made",
            ),
        ),
    ),
}
