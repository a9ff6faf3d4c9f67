"""The look of forms: one field template for the whole site (templates/forms/)."""

from django.forms.renderers import TemplatesSetting


class FormRenderer(TemplatesSetting):
    field_template_name = "forms/field.html"
