"""Fields of forms for e-mail addresses and phone numbers, by the rule of `common.contacts`."""

from django import forms

from common.contacts import validate_email, validate_phone


class TypedEmailField(forms.EmailField):
    default_validators = [validate_email]


class TypedPhoneField(forms.CharField):
    default_validators = [validate_phone]
