"""An app's hooks: how each does, its calls, its breakers, and a try of it."""

from typing import Any

import orjson
from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.errors import ServiceError
from common.ids import parse_id
from common.nesting import MAX_DEPTH, is_too_deep
from developers import hook_words
from developers.views.access import app_page, current_developer
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from extensions.hooks import breaker, health, simulator
from extensions.models import Definition
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from stores.hookpoints import HookPoint

LONGEST_DATA = 64 * 1024  # characters


@require_safe
@app_page
def hook_list(request: HttpRequest, app: App) -> HttpResponse:
    standings = [hook_words.standing(app, each) for each in health.hooks_of(app)]
    return render(request, "developers/hooks.html", {"app": app, "standings": standings})


@require_safe
@app_page
def hook_page(request: HttpRequest, app: App, point: str) -> HttpResponse:
    definition = health.own_hook(app, point)
    context = {
        "app": app,
        "standing": hook_words.standing(app, definition),
        "calls": [(each, *hook_words.OUTCOMES[each.outcome]) for each in health.newest_calls(definition)],  # type: ignore[index]
    }
    return render(request, "developers/hook.html", context)


@require_safe
@app_page
def hook_call(request: HttpRequest, app: App, point: str, call_id: str) -> HttpResponse:
    definition = health.own_hook(app, point)
    call = health.own_call(definition, call_id)
    kind, icon, words = hook_words.OUTCOMES[call.outcome]  # type: ignore[index]
    context = {
        "app": app,
        "definition": definition,
        "call": call,
        "kind": kind,
        "icon_name": icon,
        "words": words,
    }
    return render(request, "developers/hook_call.html", context)


@require_POST
@app_page
def hook_reset(request: HttpRequest, app: App, point: str, installation_id: str) -> HttpResponse:
    """Have the hook called again at once on one installation."""
    definition = health.own_hook(app, point)
    installation = get_object_or_404(
        Installation.objects.active().with_app(), app=app, pk=parse_id(installation_id)
    )
    breaker.reset(installation=installation, definition=definition)
    messages.success(request, f"The hook is called again at {installation.business.name}.")
    return redirect("portal:hook", app.slug, point)


class TrialForm(forms.Form):
    request_data = forms.CharField(
        help_text="The field data of the request, as JSON.",
        max_length=LONGEST_DATA,
        widget=forms.Textarea({"class": "code-text", "rows": 12, "spellcheck": "false"}),
    )

    def clean_request_data(self) -> dict[str, Any]:
        written = self.cleaned_data["request_data"].encode(errors="surrogatepass")
        try:
            data = orjson.loads(written)
        except orjson.JSONDecodeError as error:
            raise forms.ValidationError(f"Enter valid JSON: {error}.") from None
        if not isinstance(data, dict):
            raise forms.ValidationError("Enter a JSON object: it begins with { and ends with }.")
        if is_too_deep(written, data):
            raise forms.ValidationError(f"Enter JSON that is nested at most {MAX_DEPTH} levels deep.")
        return data


@require_http_methods(GET_OR_POST)
@app_page
def hook_try(request: HttpRequest, app: App, point: str) -> HttpResponse:
    """Takes as long as the app's server does, at most the hook's timeout."""
    definition = health.own_hook(app, point)
    installation = sandbox_installation(app=app, developer=current_developer(request))
    asked = HookPoint(point)
    example = _pretty(simulator.example_data(asked, installation))
    form = TrialForm(request.POST if request.method == "POST" else None, initial={"request_data": example})
    context = {
        "app": app,
        "standing": hook_words.standing(app, definition),
        "installation": installation,
        "form": form,
        "expected": _pretty(simulator.example_answer(asked)),
    }
    status = 200
    if form.is_bound:
        status = _try(context, form, definition, installation) if installation else UNPROCESSABLE
    return render(request, "developers/hook_try.html", context, status=status)


def _try(context: dict[str, Any], form: TrialForm, definition: Definition, installation: Installation) -> int:
    """Put what came back into the context; the page's status."""
    if not form.is_valid():
        return UNPROCESSABLE
    try:
        trial = simulator.try_hook(
            definition=definition, installation=installation, data=form.cleaned_data["request_data"]
        )
    except ServiceError as error:
        form.add_error(None, error.message)
        return error.status
    body = trial.exchange.body.decode("utf-8", "replace")
    context |= {"trial": trial, "answer": body, "headers": _lines(trial.headers)}
    return 200


def _pretty(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _lines(headers: Any) -> str:
    return "\n".join(f"{name}: {value}" for name, value in headers.items())
