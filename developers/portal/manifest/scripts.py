"""The scripts of an app that stores run: what each serves, and when that changed."""

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common.web.methods import require_safe
from developers.portal.access import app_page
from extensions.models import ScriptChange, WatchedScript
from extensions.services.scripts import scripts_of
from marketplace.models import App

SHOWN: Final = 20  # changes


@dataclass(frozen=True, slots=True)
class ScriptRow:
    script: WatchedScript
    changes: list[ScriptChange]

    @property
    def pill(self) -> tuple[str, str, str]:
        """Kind, words and icon."""
        script = self.script
        if script.is_unmatched:
            return "bad", "Not on pages: it isn’t what you pinned", "circle-x"
        if script.problem:
            return "warn", "Not reached", "triangle-alert"
        if not script.digests:
            return "neutral", "Not seen yet", "minus"
        return ("info", "Changed", "clock") if script.changed_at else ("ok", "Unchanged", "check")


@require_safe
@app_page
def scripts(request: HttpRequest, app: App) -> HttpResponse:
    rows = [ScriptRow(script, list(script.changes.order_by("-id")[:SHOWN])) for script in scripts_of(app)]
    context = {"app": app, "rows": rows, "is_on": settings.WATCH_SCRIPTS}
    return render(request, "developers/portal/manifest/scripts.html", context)
