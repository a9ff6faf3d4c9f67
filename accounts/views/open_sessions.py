"""The account's pages about where one is signed in, and about what has happened."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.models import DeveloperToken, SecurityEvent, User
from accounts.services import sessions
from accounts.sign_in.origins import device_name
from common.web.pagination import page_request


@login_required
def open_sessions(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    found = sessions.open_sessions(request.user, current_key=request.session.session_key)
    tokens = DeveloperToken.objects.usable(timezone.now()).filter(user=request.user).order_by("-id")
    context = {"sessions": found, "has_others": len(found) > 1, "tokens": tokens}
    return render(request, "accounts/sessions.html", context)


@require_POST
@login_required
def end_sessions(request: HttpRequest) -> HttpResponse:
    """End the session that the form names, or every other one, and with them the developer tokens if that is selected."""
    assert isinstance(request.user, User)
    if "others" in request.POST:
        with_tokens = "tokens" in request.POST
        sessions.end_other_sessions(
            user=request.user, current_key=request.session.session_key, with_tokens=with_tokens
        )
        also = " Your developer tokens no longer work." if with_tokens else ""
        messages.success(request, f"You’re signed out everywhere else.{also}")
    elif sessions.end_session(
        user=request.user, kind=request.POST.get("kind", ""), row_id=request.POST.get("id", "")
    ):
        messages.success(request, "The session has ended.")
    else:
        messages.info(request, "That session had already ended.")
    return redirect("accounts:sessions")


@login_required
def security_log(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    page = page_request(request.GET)
    events = SecurityEvent.objects.concerning(request.user)
    rows = events.with_people("name").order_by("-id")[page.window]
    lines = [{"event": row, "device": device_name(row.device)} for row in rows]
    context = {"lines": lines, "page_request": page, "total": events.count()}
    return render(request, "accounts/security_log.html", context)
