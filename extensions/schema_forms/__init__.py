"""Settings forms: a JSON Schema as a Django form (contract section 6, "Settings").

`parts` reads the schema, `state` what the form holds, `controls` are the fields, `form` is the form itself. All rules
are the schema's and are checked by it; the fields only turn text into values.
"""

from extensions.schema_forms.form import SettingsForm, settings_form, settings_preview

__all__ = ["SettingsForm", "settings_form", "settings_preview"]
