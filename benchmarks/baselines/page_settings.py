"""What `startproject` writes, in production, on a database of its own (`STOCK_DATABASE_URL`)."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.baselines import NEW_PROJECT

_DATABASE = urlsplit(os.environ["STOCK_DATABASE_URL"])

SECRET_KEY = os.environ["SECRET_KEY"]
DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = NEW_PROJECT
ROOT_URLCONF = "benchmarks.baselines.page"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
WSGI_APPLICATION = "benchmarks.baselines.page.application"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _DATABASE.path.lstrip("/"),
        "USER": _DATABASE.username or "",
        "PASSWORD": _DATABASE.password or "",
        "HOST": _DATABASE.hostname or "",
        "PORT": _DATABASE.port or "",
        "CONN_MAX_AGE": 600,  # as ours: a new connection for each page would cost more than the page
    }
}
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
STATIC_URL = "static/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
