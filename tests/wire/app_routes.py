"""The routes of the portal and the developer API."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from django.urls import URLPattern, get_resolver
from django.utils.regex_helper import normalize

# Routes that are not of one app: each person sees what is theirs.
PERSONAL: Final = {
    "portal:app_list", "portal:device", "portal:create", "portal:app_create", "portal:invitation", "portal:invitation_register",
    "developer_api:device", "developer_api:device_token", "developer_api:apps", "developer_api:test_changes",
    "developer_api:test_store", "developer_api:test_store_changes", "developer_api:test_store_install", "developer_api:test_store_uninstall",
    "developer_api:test_store_advance", "developer_api:test_store_deliveries", "developer_api:test_store_calls",
}  # fmt: skip


def routes() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Name, path with its parameters, and view."""
    for prefix, namespace in (("portal/", "portal"), ("developer/", "developer_api")):
        patterns = get_resolver(
            f"developers.{'portal' if namespace == 'portal' else 'api'}.urls"
        ).url_patterns
        for each in patterns:
            assert isinstance(each, URLPattern)
            form, _ = normalize(each.pattern.regex.pattern)[0]
            yield f"{namespace}:{each.name}", f"/{prefix}{form}", each.callback
