"""Just enough of Django for the app. `python manage.py startapp` and a database fit in as usual."""

import os

import config

SECRET_KEY = os.environ.get("SECRET_KEY") or config.CLIENT_SECRET or "for tests only"
DEBUG = os.environ.get("DEBUG", "1") == "1"
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost 127.0.0.1").split()
ROOT_URLCONF = "urls"
USE_TZ = True
# XFrameOptionsMiddleware would keep stores from showing the block. Exempt the block's view where you need it.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]
