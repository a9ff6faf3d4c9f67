"""Which forms may act."""

from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware, RejectRequest

from common.web.forms.stamps import is_form_of_this_address

REASON = "The form is of another address or person."


class OwnFormsMiddleware(CsrfViewMiddleware):
    """Django's protection against forms of other sites. A form of ours is good for one person and one address, too, as its stamp says."""

    def _check_token(self, request: HttpRequest) -> None:
        super()._check_token(request)  # type: ignore[misc]  # Django's own hook, which its stubs lack
        if not is_form_of_this_address(request):
            raise RejectRequest(REASON)
