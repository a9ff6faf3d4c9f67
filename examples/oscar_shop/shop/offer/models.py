from oscar.apps.offer.models import *  # noqa: F403
