"""What the app API is held against: the same rows by a bare Django view, and by stock parts of Django REST framework
and django-oauth-toolkit. Each runs by a settings module of its own, in a gunicorn like the product's."""

# What `startproject` writes.
NEW_PROJECT = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
