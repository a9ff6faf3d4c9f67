"""Compiles every template, and looks for those that it extends or includes by name: `python -m tools.templates`.

A page that no test opens would otherwise show a misspelt tag, filter or template to its first visitor. Lines of pages have a
limit, too: break them between the attributes of a tag, or at white space that a browser ignores.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import django
from django.conf import settings
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.backends.django import Template
from django.template.base import FilterExpression, Node
from django.template.loader import get_template
from django.template.loader_tags import ExtendsNode, IncludeNode

LONGEST_LINE = 159  # and its end


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    problems = [problem for folder in settings.TEMPLATES[0]["DIRS"] for problem in check(folder)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def check(folder: Path) -> Iterator[str]:
    """Problems of the templates under `folder`, each as `path: problem`."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder).as_posix()
        try:
            template = get_template(name)
        except (TemplateSyntaxError, TemplateDoesNotExist, UnicodeDecodeError) as error:
            yield f"{file}: {error}"
            continue
        yield from (f"{file}: no template {named}" for named in _used(template) if not _exists(named))
        yield from _long_lines(file)


def _long_lines(file: Path) -> Iterator[str]:
    if file.suffix == ".html":
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if len(line) > LONGEST_LINE:
                yield f"{file}:{number}: {len(line)} characters, at most {LONGEST_LINE}"


def _used(template: Template) -> Iterator[str]:
    """Names of templates that are written out, not computed."""
    nodes = template.template.nodelist
    for node in nodes.get_nodes_by_type((ExtendsNode, IncludeNode)):
        name = _name(node)
        if isinstance(name.var, str):
            yield name.var


def _name(node: Node) -> FilterExpression:
    return node.parent_name if isinstance(node, ExtendsNode) else node.template


def _exists(name: str) -> bool:
    try:
        get_template(name)
    except TemplateDoesNotExist:
        return False
    except TemplateSyntaxError:  # reported for that template itself
        return True
    return True


if __name__ == "__main__":
    sys.exit(main())
