"""The zones of the site: which middleware a request meets."""

from typing import Any

import pytest
from django.contrib.admin.checks import check_dependencies
from django.contrib.auth.checks import check_middleware
from django.core.checks.security import base, csrf
from django.test import Client


def test_platform_has_the_middleware_that_djangos_checks_ask_for(settings: Any) -> None:
    """These checks are silenced, since they look at MIDDLEWARE."""
    ours = {
        "common.web.middleware.same_origin.OwnFormsMiddleware": "django.middleware.csrf.CsrfViewMiddleware"
    }  # made of it
    settings.MIDDLEWARE = [ours.get(each, each) for each in settings.ZONES["platform"]["middleware"]]
    assert check_dependencies() == []
    assert check_middleware(None) == []
    assert base.check_security_middleware(None) == []
    assert base.check_xframe_options_middleware(None) == []
    assert csrf.check_csrf_middleware(None) == []


@pytest.mark.spec("Contract 0 Conventions", "the wrong host is a 400 in the error shape")
@pytest.mark.parametrize("path", ["/", "/app-api/products"])
def test_host_of_nobody_is_a_400_in_the_error_shape(path: str) -> None:
    response = Client().get(path, headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert response.json()["message"] == "Unknown host name."


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize("path", ["/nothing/here", "/licenses/"])
def test_every_page_has_the_policy_and_may_not_be_framed(path: str, debug: bool, settings: Any) -> None:
    settings.DEBUG = debug
    response = Client(headers={"Accept": "text/html"}).get(path)
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
    assert response["X-Frame-Options"] == "DENY"
