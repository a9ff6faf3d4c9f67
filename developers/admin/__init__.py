"""Review in the administration (contract section 7): the queue, the page of a submission, apps and their log.

Pages that act are functions in `review` and `suspension`; what they decide is done by `marketplace.services`.
"""

from django.contrib import admin

from developers.admin import flags, log, submissions  # noqa: F401  registers them; `apps` is named in the settings

admin.site.site_title = admin.site.site_header = "Extension Platform"
