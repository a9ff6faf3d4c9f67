"""The page where a developer lets a command line in (RFC 8628)."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.services import developer_tokens
from accounts.sign_in.step_up import step_up
from common.errors import NotFound
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE
from common.web.limits import limit
from common.web.methods import GET_OR_POST
from developers.portal.access import current_developer, developer_page

CODES_A_MINUTE = 10  # that one person may try


class UserCodeForm(forms.Form):
    user_code = forms.CharField(
        label="Code",
        max_length=20,
        widget=forms.TextInput(
            {
                "autocomplete": "off",
                "autocapitalize": "characters",
                "spellcheck": "false",
                "placeholder": "WDJB-MJHT",
            }
        ),
        error_messages={"required": "Enter the code."},
    )


@require_http_methods(GET_OR_POST)
@developer_page
@step_up
def device(request: HttpRequest) -> HttpResponse:
    """Ask for the code, then whether to allow the command line that shows it."""
    data = typed(request)
    sent = request.GET if data is None else data
    form = UserCodeForm(sent if "user_code" in sent else None)
    if not form.is_valid():
        return _code_page(request, form)
    developer, user_code = current_developer(request), form.cleaned_data["user_code"]
    limit(request, "device-code", key=str(developer.pk), per_minute=CODES_A_MINUTE)
    try:
        if "answer" not in request.POST:
            grant = developer_tokens.waiting_grant(user_code)
            context = {"grant": grant, "user_code": user_code, "days": developer_tokens.TOKEN_LIFETIME.days}
            return render(request, "developers/portal/device_confirm.html", context)
        agreed = request.POST["answer"] == "allow"
        grant = developer_tokens.answer_grant(user=developer, user_code=user_code, agreed=agreed)
    except NotFound as error:
        form.add_error("user_code", error.message)
        return _code_page(request, form)
    if agreed:
        messages.success(
            request, f"{grant.client_name} can sign in now. You can revoke its token here later."
        )
    else:
        messages.info(request, f"{grant.client_name} was denied.")
    return redirect("accounts:tokens")


def _code_page(request: HttpRequest, form: UserCodeForm) -> HttpResponse:
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "developers/portal/device.html", {"form": form}, status=status)
