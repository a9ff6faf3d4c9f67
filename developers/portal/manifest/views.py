"""An app's manifest: editor, plan before a save, history, restoring an earlier one, and its scripts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from csp.constants import NONCE, SELF
from csp.decorators import csp_update
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from common.db.rows import get_or_not_found
from common.errors import Conflict, ServiceError
from common.places import Busy
from common.web.forms.edits import CONFLICT, digest
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE, refusals_shown, with_headers
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from developers.portal.access import app_page, computing_page, current_developer
from extensions.enums import ExtensionType
from extensions.manifest.changes import about, in_words, manifest_differences, plan, same
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.text import MAX_TEXT, Located, Reading, read, written
from extensions.models import ManifestSave, ScriptChange, WatchedScript
from extensions.queries import kept_in_stores, manifest_document, waiting_in, waits_for_version
from extensions.schema_forms import SettingsForm, settings_preview
from extensions.services.manifests import Saved, restore_manifest, save_manifest, why_locked
from extensions.services.scripts import scripts_of
from marketplace.differences import Difference
from marketplace.models import App

SHOWN: Final = 20  # changes
MAX_EXCERPT: Final = 120  # characters of a line
MAX_PREVIEWS: Final = 10
NO_CHANGES: Final = "No changes: this manifest is saved already."
OUTDATED: Final = "This manifest breaks rules that were added later. Correct it, then save it."
RESTORED: Final = "The earlier manifest is live again."
SAVED: Final = "The manifest is saved and live in every store that has the app."
WAITS: Final = "{saved} Parts of it wait for the next version: submit the app for review when it's ready."
KEPT: Final = (
    "{saved} Stores run what you removed until the next version: submit the app for review when it's ready."
)
# Title and icon of each group in the outline.
GROUPS: Final = {
    ExtensionType.BLOCK: ("Blocks", "blocks"),
    ExtensionType.EMBED: ("Embeds", "layout-grid"),
    ExtensionType.HOOK: ("Hooks", "plug"),
    ExtensionType.ADMIN_PAGE: ("Admin pages", "layout-dashboard"),
}


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem in the list above the text. `excerpt` is its line."""

    located: Located
    excerpt: str


@dataclass(frozen=True, slots=True)
class OutlineGroup:
    """One kind of extension in the outline: each definition, its description, and whether it waits for the next version."""

    title: str
    icon: str
    lines: list[tuple[Defined, str, bool]]


@csp_update({"style-src": [SELF, NONCE]})  # the editor writes a style element
@require_http_methods(GET_OR_POST)
@app_page
def manifest(request: HttpRequest, app: App) -> HttpResponse:
    """Every button of the page sends the text, so that nothing typed is lost. The button's name decides what happens."""
    data = typed(request)
    if data is None:
        return _editor(request, app, written(manifest_document(app)))
    text = _text(request, data)
    try:
        reading = read(text)
    except Busy as busy:
        messages.error(request, busy.message)
        return with_headers(_editor(request, app, text, status=busy.status), busy)
    if request.method != "POST" or reading.problems or reading.document is None:
        return _editor(request, app, text, reading, shown=data.get("shown", ""))
    if "save" in request.POST or "confirm" in request.POST:
        return _save(request, app, text, reading.document)
    if "format" in request.POST:
        text = written(reading.document)
    return _editor(request, app, text, read(text), shown=data.get("shown", ""))


@require_POST
@computing_page
def manifest_check(request: HttpRequest, app: App) -> HttpResponse:
    """Problems as JSON, for the editor while the developer types.

    `length` counts characters. JavaScript counts some characters twice, so positions are given as line and column.
    """
    problems = [
        {
            "path": each.problem.path,
            "message": each.problem.message,
            "line": each.line,
            "column": each.column,
            "length": each.end - each.start,
            "fix": each.fix,
        }
        for each in read(_text(request, request.POST)).problems
    ]
    return JsonResponse({"problems": problems})


@require_safe
@app_page
def manifest_download(request: HttpRequest, app: App) -> HttpResponse:
    name = f'attachment; filename="{app.slug}-manifest.json"'
    text = written(manifest_document(app)) + "\n"
    return HttpResponse(text, content_type="application/json", headers={"Content-Disposition": name})


@require_safe
@app_page
def manifest_history(request: HttpRequest, app: App) -> HttpResponse:
    """Saves, newest first, each compared with the one before it."""
    wanted = page_request(request.GET, default=10, maximum=50)
    saves = ManifestSave.objects.filter(app=app).select_related("saved_by").order_by("-id")
    rows = list(saves[wanted.offset : wanted.offset + wanted.limit + 1])
    earlier = [row.document for row in rows[1:]] + [{}]
    context = {
        "app": app,
        "saves": [
            (row, manifest_differences(before, row.document))
            for row, before in zip(rows[: wanted.limit], earlier, strict=False)
        ],
        "newest": saves.first(),
        "total": saves.count(),
        "page_request": wanted,
        "locked": why_locked(app),
    }
    return render(request, "developers/portal/manifest/history.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def manifest_restore(request: HttpRequest, app: App, save_id: str) -> HttpResponse:
    """Shows what restoring changes, and asks. A manifest that today's rules refuse opens in the editor instead."""
    save = _own_save(app, save_id)
    reading = read(written(save.document))
    if reading.problems:
        messages.warning(request, OUTDATED)
        return redirect(f"{resolve_url('portal:manifest', app.slug)}?save={save.pk}")
    if request.method == "POST":
        with refusals_shown(request):
            saved = restore_manifest(save=save, developer=current_developer(request))
            messages.success(request, _where_it_runs(app, saved, live=RESTORED))
        return redirect("portal:manifest", app.slug)
    if locked := why_locked(app):
        raise Conflict(locked)
    context = {
        "app": app,
        "save": save,
        "plan": in_words(app, save.document),
        "differences": manifest_differences(manifest_document(app), save.document),
    }
    return render(request, "developers/portal/manifest/restore.html", context)


def _text(request: HttpRequest, data: QueryDict) -> str:
    """The text of the form, or of the uploaded file. Browsers send line breaks as CR LF."""
    file = request.FILES.get("file")
    if file is not None and "upload" in data:
        return file.read(MAX_TEXT + 1).decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return data.get("manifest", "").replace("\r\n", "\n")


def _save(request: HttpRequest, app: App, text: str, document: dict[str, Any]) -> HttpResponse:
    """Shows the plan first, and saves once the developer has confirmed it."""
    developer = current_developer(request)
    before = manifest_document(app)
    if same(before, document):
        messages.info(request, NO_CHANGES)
        return redirect("portal:manifest", app.slug)
    if request.POST.get("shown", digest(before)) != digest(before):
        theirs = manifest_differences(before, document)
        return _editor(request, app, text, read(text), status=CONFLICT, theirs=theirs)
    changes = plan(app, document)
    locked = why_locked(app)
    if "confirm" in request.POST or not (locked or changes):
        try:
            saved = save_manifest(app=app, developer=developer, document=document)
        except ServiceError as error:
            messages.error(request, error.message)
            return _editor(request, app, text, read(text), status=error.status)
        messages.success(request, _where_it_runs(app, saved, live=SAVED))
        return redirect("portal:manifest", app.slug)
    if locked:
        messages.error(request, locked)
        return _editor(request, app, text, read(text), status=409)
    context = {
        "app": app,
        "text": text,
        "plan": in_words(app, document),
        "differences": manifest_differences(before, document),
        "shown": digest(before),
    }
    return render(request, "developers/portal/manifest/save.html", context)


def _where_it_runs(app: App, saved: Saved, *, live: str) -> str:
    """What a message says after a save: `live` only if every store runs all of it."""
    if not waits_for_version(app, saved.document):
        return live
    only_removed = kept_in_stores(app, saved.document) and not saved.reach["withNextVersion"]
    first = "The earlier manifest is saved again." if live == RESTORED else "The manifest is saved."
    return (KEPT if only_removed else WAITS).format(saved=first)


def _editor(
    request: HttpRequest,
    app: App,
    text: str,
    reading: Reading | None = None,
    *,
    status: int = 200,
    shown: str = "",
    theirs: Sequence[Difference] = (),
) -> HttpResponse:
    """`shown` is a digest of the saved manifest that the person has seen, if not the one that is saved now. `theirs` is how the text
    differs from what somebody else saved meanwhile.
    """
    earlier = request.GET.get("save") if reading is None else None
    if earlier:
        text = written(_own_save(app, earlier).document)
        reading = read(text)
    problems = _shown_problems(text, reading) if reading else []
    live = manifest_document(app)
    document = reading.document if reading and reading.document is not None and not problems else live
    waiting = {(each.type, each.key) for each in waiting_in(app, document)}
    context = {
        "longest": MAX_TEXT,
        "app": app,
        "text": text,
        "problems": problems,
        "problem_count": reading.total if reading else 0,
        "checked": reading is not None and not problems,
        "is_saved": same(document, live) and not problems,
        "plan": in_words(app, document) if reading and not problems else None,
        "outline": _outline(document, waiting),
        "waiting": waiting_in(app, live),
        "previews": _previews(document),
        "locked": why_locked(app),
        "newest": ManifestSave.objects.filter(app=app).select_related("saved_by").order_by("-id").first(),
        "shown": shown or digest(live),
        "theirs": theirs,
    }
    wrong = UNPROCESSABLE if problems and request.method == "POST" else status
    return render(request, "developers/portal/manifest/manifest.html", context, status=wrong)


def _own_save(app: App, save_id: str) -> ManifestSave:
    """Raises `NotFound`, also for a save of another app."""
    saves = ManifestSave.objects.filter(app=app).select_related("app", "saved_by")
    return get_or_not_found(saves, save_id, "Saved manifest not found")


def _shown_problems(text: str, reading: Reading) -> list[ShownProblem]:
    lines = text.split("\n")
    return [ShownProblem(each, lines[each.line - 1].strip()[:MAX_EXCERPT]) for each in reading.problems]


def _outline(document: Mapping[str, Any], waiting: Collection[tuple[str, str]]) -> list[OutlineGroup]:
    """Groups of a manifest without problems, with the types and keys that wait. Empty groups are left out."""
    all_defined = list(definitions_in(document))
    return [
        OutlineGroup(title, icon, lines)
        for kind, (title, icon) in GROUPS.items()
        if (
            lines := [
                (each, about(each), (each.type, each.key) in waiting)
                for each in all_defined
                if each.type == kind
            ]
        )
    ]


def _previews(document: Mapping[str, Any]) -> list[tuple[str, SettingsForm]]:
    """The first few settings forms with fields, as merchants will see them, each with a title."""
    schemas: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("The app", document.get("settingsSchema", {}), {})
    ]
    schemas += [
        (f"{each.type.label} {each.name}", each.content["settingsSchema"], each.content["defaultConfig"])
        for each in definitions_in(document)
        if "settingsSchema" in each.content
    ]
    with_fields = [each for each in schemas if each[1].get("properties")][:MAX_PREVIEWS]
    return [
        (title, settings_preview(schema, defaults=defaults, prefix=f"preview-{number}"))
        for number, (title, schema, defaults) in enumerate(with_fields)
    ]


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
