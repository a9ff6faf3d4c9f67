"""Finds the store of a request by its host or path, and speaks its language."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from django.conf import settings
from django.db import DatabaseError
from django.db.models import CharField
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.http.request import split_domain_port
from django.urls import get_script_prefix, set_script_prefix

from accounts.models import Business
from accounts.services.confirmation import is_open
from common.db.compiled import Compiled, Param
from common.errors import NotFound
from common.languages import ENGLISH, language_of, speaking
from common.web.errors import answer_to
from stores.addresses import slug_of

WITHOUT_WORDS: Final = ("/media/", "/.well-known/")  # pictures and files need no store
NO_STORE: Final = "There is no store at this address."
MOST_REMEMBERED: Final = 10_000
STORE_PATH: Final = re.compile(r"/store/(?P<slug>[-\w]+)(?P<rest>/.*)?", re.ASCII | re.DOTALL)


@cache
def _stores(asks_to_confirm: bool) -> Compiled[Business]:
    """By their slug."""
    name = f"storefront_store_{asks_to_confirm}".lower()
    return Compiled(
        lambda: Business.objects.filter(slug=Param("slug", CharField())).annotate(is_open=is_open()),
        prepared_as=name,
    )


class StoreMiddleware:
    """Sets `request.store_slug` and `request.store`, and makes the store's URLs start at its root.

    A store is mounted at `/` of its own host, and at `/store/<slug>/` of its own or the shared one, like an application at
    its SCRIPT_NAME: the URLconf sees the rest of the path, and `reverse` adds the root again. Another store's path is
    unknown on a store's own host, because each store has its own origin.

    The language is set here, around all that may refuse a request, so that error pages are in it, too.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._spoken: dict[str, str] = {}  # languages by slug, for pages without a database

    def __call__(self, request: HttpRequest) -> HttpResponse:
        own = slug_of(split_domain_port(request.get_host())[0])
        found = STORE_PATH.fullmatch(request.path_info)
        if found is None or own not in (None, found["slug"]):
            request.store_slug = own  # type: ignore[attr-defined]
            return self._at("/", request)
        if not found["rest"]:
            return HttpResponsePermanentRedirect(request.get_full_path(force_append_slash=True))
        request.store_slug, request.path_info = found["slug"], found["rest"]  # type: ignore[attr-defined]
        return self._at(f"/store/{found['slug']}/", request)

    def _at(self, root: str, request: HttpRequest) -> HttpResponse:
        if request.store_slug is None and request.path_info == "/":  # type: ignore[attr-defined]
            return HttpResponseRedirect(f"{settings.BASE_URL}/")
        with _script_prefix(root):
            return self._spoken_to(request)

    def _spoken_to(self, request: HttpRequest) -> HttpResponse:
        slug: str | None = request.store_slug  # type: ignore[attr-defined]
        request.store = None  # type: ignore[attr-defined]
        if slug is None or request.path_info.startswith(WITHOUT_WORDS):
            return self.get_response(request)
        try:
            store = _stores(settings.CONFIRM_ADDRESSES).first(slug=slug)
        except DatabaseError as error:
            with speaking(self._spoken.get(slug, ENGLISH)):
                return answer_to(request, error)
        if store is not None and not store.capabilities.storefront:
            return answer_to(request, NotFound(NO_STORE))
        request.store = store  # type: ignore[attr-defined]
        with speaking(self._language(store)):
            return self.get_response(request)

    def _language(self, store: Business | None) -> str:
        if store is None:
            return ENGLISH
        language = language_of(store.locale)
        if self._spoken.get(store.slug) != language:
            if len(self._spoken) >= MOST_REMEMBERED:
                self._spoken.clear()
            self._spoken[store.slug] = language
        return language


@contextmanager
def _script_prefix(prefix: str) -> Iterator[None]:
    before = get_script_prefix()
    set_script_prefix(prefix)
    try:
        yield
    finally:
        set_script_prefix(before)
