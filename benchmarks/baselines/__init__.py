"""What the app API is held against: the same rows by a bare Django view, and by stock parts of Django REST framework
and django-oauth-toolkit. Each runs by a settings module of its own, in a gunicorn like the product's."""
