"""The pages, and installing on a store."""

import installing
from config import FOLDER
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from extension_platform_sdk import PlatformError


def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse('<h1>NAME</h1><p><a href="/install">Install on a store</a></p>')


def block(request: HttpRequest) -> HttpResponse:
    return HttpResponse((FOLDER / "block.html").read_text())


def install(request: HttpRequest) -> HttpResponse:
    url, cookie = installing.begin()
    response = redirect(url)
    response.set_cookie(installing.COOKIE, cookie, max_age=3600, httponly=True, samesite="Lax")
    return response


def callback(request: HttpRequest) -> HttpResponse:
    try:
        address = installing.finish(request.GET.dict(), request.COOKIES.get(installing.COOKIE))
    except PlatformError as error:
        return HttpResponse(f"Not installed: {error}", status=400, content_type="text/plain")
    response = redirect(address)
    response.delete_cookie(installing.COOKIE)
    return response


def welcome(request: HttpRequest) -> HttpResponse:
    page = installing.welcome(request.GET.get("business", ""))
    return HttpResponse(page) if page else HttpResponse("Not found", status=404, content_type="text/plain")
