"""Manifests on pages: `{% load manifests %}`."""

from django import template

from extensions.manifest.differences import summary

register = template.Library()
register.filter("summary", summary)
