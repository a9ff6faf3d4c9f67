"""The failed API calls above the log: each error at an endpoint with its hours, and the way to its calls."""

from typing import Any, Final
from urllib.parse import urlencode

from activity.failures import HOURS, FailedCalls, failed_calls
from common.web.charts import strip
from marketplace.models import App

STEP: Final = 5


def failures_of(app: App) -> dict[str, Any]:
    """For the template: rows of a group, its bars, and the filters that list its calls."""
    rows = [
        (each, strip([(0, number) for number in each.hours], step=STEP), urlencode(_filters(each)))
        for each in failed_calls(app)
    ]
    return {"failures": rows, "strip_width": HOURS * STEP - 2}


def _filters(failed: FailedCalls) -> dict[str, str]:
    found = {
        "endpoint": failed.route,
        "status": f"{failed.status // 100}xx",
        "q": failed.code,
        "range": "24h",
    }
    return {name: value for name, value in found.items() if value}
