"""The WSGI application: `gunicorn config.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

from common.chunked import with_length

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = with_length(get_wsgi_application())
