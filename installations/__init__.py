"""One app on one business: OAuth, access tokens, consent, install and uninstall."""
