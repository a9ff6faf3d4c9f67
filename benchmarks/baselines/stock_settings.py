"""The middleware of a new project, and both libraries as they come."""

from benchmarks.baselines import NEW_PROJECT
from benchmarks.settings import *  # noqa: F403

MIDDLEWARE = [*NEW_PROJECT, "allauth.account.middleware.AccountMiddleware"]
ROOT_URLCONF = "benchmarks.baselines.stock"
REST_FRAMEWORK: dict[str, object] = {}
OAUTH2_PROVIDER: dict[str, object] = {}
