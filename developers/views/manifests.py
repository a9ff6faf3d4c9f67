"""The manifest of an app: the editor, the plan before a save, the history and putting back."""

from typing import Any

from csp.constants import NONCE, SELF
from csp.decorators import csp_update
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.errors import Conflict, NotFound, ServiceError
from common.ids import parse_id
from common.pages import page_request
from common.rate_limits import consume
from developers import manifest_editor
from developers.review.frames import addresses_of, check_addresses
from developers.views.access import app_page, current_developer
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from extensions.manifest.content import definitions_in
from extensions.manifest.differences import manifest_differences
from extensions.manifest.reach import in_words
from extensions.manifest.sync import plan, same
from extensions.manifest.text import MAX_TEXT, Reading, read, written
from extensions.models import ManifestSave
from extensions.queries import manifest_document
from extensions.services.manifests import put_back, save_manifest
from marketplace.enums import AppStatus
from marketplace.models import App

FRAME_CHECKS = 5  # a minute
LOCKED = "The app is in review, and its manifest can't be saved until that is decided."


@csp_update({"style-src": [SELF, NONCE]})  # the editor writes a style element
@require_http_methods(GET_OR_POST)
@app_page
def manifest(request: HttpRequest, app: App) -> HttpResponse:
    """Every button sends the text, so that nothing that was typed is lost; what was pressed says what for."""
    if request.method != "POST":
        return _editor(request, app, written(manifest_document(app)))
    text = _text(request)
    reading = read(text)
    if reading.problems or reading.document is None:
        return _editor(request, app, text, reading)
    if "save" in request.POST or "confirm" in request.POST:
        return _save(request, app, text, reading.document)
    if "format" in request.POST:
        text = written(reading.document)
    if "frames" in request.POST:
        return _check_frames(request, app, text, reading)
    return _editor(request, app, text, read(text))


@require_POST
@app_page
def manifest_check(request: HttpRequest, app: App) -> HttpResponse:
    """For the editor while somebody types: the same problems, with their places."""
    return JsonResponse({"problems": manifest_editor.diagnostics(read(_text(request)))})


@require_safe
@app_page
def manifest_download(request: HttpRequest, app: App) -> HttpResponse:
    name = f'attachment; filename="{app.slug}-manifest.json"'
    text = written(manifest_document(app)) + "\n"
    return HttpResponse(text, content_type="application/json", headers={"Content-Disposition": name})


@require_safe
@app_page
def manifest_history(request: HttpRequest, app: App) -> HttpResponse:
    """Each save against the one before it, the newest first."""
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
        "locked": app.status == AppStatus.PENDING_REVIEW,
    }
    return render(request, "developers/manifest_history.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def manifest_put_back(request: HttpRequest, app: App, save_id: str) -> HttpResponse:
    """Says what it changes and asks. What the rules of today refuse opens in the editor, to be mended there."""
    save = _own_save(app, save_id)
    reading = read(written(save.document))
    if reading.problems:
        messages.warning(request, "This manifest breaks rules of today. Mend it, then save it.")
        return redirect(f"{resolve_url('portal:manifest', app.slug)}?save={save.pk}")
    if request.method == "POST":
        try:
            put_back(save=save, developer=current_developer(request))
        except ServiceError as error:
            messages.error(request, error.message)
        else:
            messages.success(request, "The earlier manifest is in force again.")
        return redirect("portal:manifest", app.slug)
    if app.status == AppStatus.PENDING_REVIEW:
        raise Conflict(LOCKED)
    context = {
        "app": app,
        "save": save,
        "plan": in_words(app, plan(app, save.document)),
        "differences": manifest_differences(manifest_document(app), save.document),
    }
    return render(request, "developers/manifest_put_back.html", context)


def _check_frames(request: HttpRequest, app: App, text: str, reading: Reading) -> HttpResponse:
    """Each check asks up to 30 addresses, so an app has few of them."""
    state = consume(f"frames:{app.pk}", limit=FRAME_CHECKS)
    if not state.allowed:
        messages.error(
            request,
            f"That is more than {FRAME_CHECKS} checks a minute. Try again in {state.retry_after} seconds.",
        )
        return _editor(request, app, text, reading, status=429)
    found = list(check_addresses(addresses_of(definitions_in(reading.document or {}))))
    return _editor(request, app, text, reading, evidence=found)


def _text(request: HttpRequest) -> str:
    """What the form holds; an uploaded file takes its place. Browsers send line ends as CR LF."""
    file = request.FILES.get("file")
    if file is not None and "upload" in request.POST:
        return file.read(MAX_TEXT + 1).decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return request.POST.get("manifest", "").replace("\r\n", "\n")


def _save(request: HttpRequest, app: App, text: str, document: dict[str, Any]) -> HttpResponse:
    """The plan first, and the save once that was seen; what else happened meanwhile shows in the plan."""
    developer = current_developer(request)
    before = manifest_document(app)
    if same(before, document):
        messages.info(request, "Nothing differs from the manifest in force, so nothing was saved.")
        return redirect("portal:manifest", app.slug)
    changes = plan(app, document)
    if "confirm" in request.POST or (app.status != AppStatus.PENDING_REVIEW and not changes):
        try:
            save_manifest(app=app, developer=developer, document=document)
        except ServiceError as error:
            messages.error(request, error.message)
            return _editor(request, app, text, read(text), status=error.status)
        messages.success(request, "The manifest is saved, and in force on every store that has the app.")
        return redirect("portal:manifest", app.slug)
    if app.status == AppStatus.PENDING_REVIEW:
        messages.error(request, LOCKED)
        return _editor(request, app, text, read(text), status=409)
    context = {
        "app": app,
        "text": text,
        "plan": in_words(app, changes),
        "differences": manifest_differences(before, document),
    }
    return render(request, "developers/manifest_save.html", context)


def _editor(
    request: HttpRequest,
    app: App,
    text: str,
    reading: Reading | None = None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    earlier = request.GET.get("save") if reading is None else None
    if earlier:
        text = written(_own_save(app, earlier).document)
        reading = read(text)
    problems = manifest_editor.shown_problems(text, reading) if reading else []
    in_force = manifest_document(app)
    document = reading.document if reading and reading.document is not None and not problems else in_force
    context = {
        "app": app,
        "text": text,
        "problems": problems,
        "problem_count": reading.total if reading else 0,
        "checked": reading is not None and not problems,
        "is_saved": same(document, in_force) and not problems,
        "plan": in_words(app, plan(app, document)) if reading and not problems else None,
        "outline": manifest_editor.outline(document),
        "previews": manifest_editor.previews(document),
        "locked": app.status == AppStatus.PENDING_REVIEW,
        "newest": ManifestSave.objects.filter(app=app).select_related("saved_by").order_by("-id").first(),
        **more,
    }
    wrong = UNPROCESSABLE if problems and request.method == "POST" else status
    return render(request, "developers/manifest.html", context, status=wrong)


def _own_save(app: App, save_id: str) -> ManifestSave:
    """Raises `NotFound`, for a save of another app too."""
    parsed = parse_id(save_id)
    save = (
        ManifestSave.objects.filter(app=app, pk=parsed).select_related("app", "saved_by").first()
        if parsed
        else None
    )
    if save is None:
        raise NotFound("There is no such save of this manifest.")
    return save
