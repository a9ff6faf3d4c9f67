"""The page that runs a call of the app API on a developer's sandbox store."""

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from common.errors import NotFound
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST
from developers.docs import explorer, reference
from developers.docs.views.pages import docs_page
from installations.models import Installation


@require_http_methods(GET_OR_POST)
def run(request: HttpRequest, slug: str, operation: str) -> HttpResponse:
    """GET shows the form, to everyone. POST runs the call, for a developer's own app."""
    group = reference.group_of(slug)
    endpoint = next((each for each in group.endpoints if each.id == operation and each.runnable), None)
    if endpoint is None:
        raise NotFound("There is no such call to run.")
    user = request.user
    if request.method == "POST" and not user.is_authenticated:
        return redirect_to_login(request.path)
    is_developer = user.is_authenticated and user.is_developer
    if request.method == "POST" and not is_developer:
        raise PermissionDenied("The explorer is for developers. Your account has another role.")
    installations = explorer.sandbox_installations(user) if is_developer else []  # type: ignore[arg-type]
    chosen = _chosen(request, installations)
    form = explorer.CallForm(
        endpoint, request.POST if request.method == "POST" else None, ids=explorer.sample_ids(chosen)
    )
    answer = explorer.run(request, chosen, form) if chosen and form.is_bound and form.is_valid() else None
    return docs_page(
        request,
        "run",
        status=UNPROCESSABLE if form.is_bound and not form.is_valid() else 200,
        group=group,
        endpoint=endpoint,
        form=form,
        answer=answer,
        is_developer=is_developer,
        installations=installations,
        chosen=chosen,
        paused=chosen is not None and chosen.paused_at is not None,
    )


def _chosen(request: HttpRequest, installations: list[Installation]) -> Installation | None:
    """The installation of the app that is named, else of the newest install. Raises `NotFound` for another one's app."""
    slug = request.POST.get("app") or request.GET.get("app")
    if not slug:
        return installations[0] if installations and request.method != "POST" else None
    for installation in installations:
        if installation.app.slug == slug:
            return installation
    if request.user.is_authenticated:
        raise NotFound("App not found")
    return None
