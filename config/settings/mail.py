"""Mail."""

from email.utils import formataddr

from config.env.reading import env, whole_number
from config.env.servers import email_url
from config.settings.start import DEBUG, PLATFORM_NAME

EMAIL_CONFIG = env.email_url_config(email_url(debug=DEBUG))
vars().update(EMAIL_CONFIG)
EMAIL_SENT_BY = EMAIL_CONFIG["EMAIL_BACKEND"]
EMAIL_BACKEND = "common.mails.sending.CountedBackend"
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default=formataddr((PLATFORM_NAME, "no-reply@localhost")))
# They get mails about crashes and about data erasures that no app confirms.
ADMINS = [(address, address) for address in env.list("ADMINS", default=[])]
SERVER_EMAIL = DEFAULT_FROM_EMAIL
NEW_STORE_MAILS = whole_number("NEW_STORE_MAILS", 100)  # to buyers, of one store on one day
EMAIL_TIMEOUT = 10  # seconds
