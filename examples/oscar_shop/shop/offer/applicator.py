from oscar.apps.offer import applicator

from shop.adapter import ApplicatorMixin


class Applicator(ApplicatorMixin, applicator.Applicator):
    """Oscar's own offers first, then what apps take off."""
