"""App review in the admin (contract, section 7): queue, submissions, apps, and the review log.

`marketplace.services` makes the decisions.
"""

from django.conf import settings
from django.contrib import admin
from django.utils.functional import lazy

from developers.review.admin import submissions  # noqa: F401  registers them; the settings name `apps`

admin.site.site_title = admin.site.site_header = lazy(lambda: settings.PLATFORM_NAME, str)()
