"""A Django project for the peers that are Django apps. `PEER_APP` is the app."""

import os
from urllib.parse import urlsplit

_DATABASE = urlsplit(os.environ["DATABASE_URL"])

SECRET_KEY = "only for a benchmark"
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    os.environ["PEER_APP"],
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _DATABASE.path[1:],
        "USER": _DATABASE.username,
        "PASSWORD": _DATABASE.password or "",
        "HOST": _DATABASE.hostname,
        "PORT": _DATABASE.port or 5432,
        "CONN_MAX_AGE": None,  # a connection for each query would be what is measured
    }
}
LOGGING_CONFIG = None

# The models whose changes are webhooks. Deliveries are queued as the library does after it found who listens.
DJANGO_WEBHOOK = {"MODELS": ["auth.Group"]}

CELERY_BROKER_URL = os.environ["REDIS_URL"]
CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": os.environ["PEER_PREFIX"]}
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
