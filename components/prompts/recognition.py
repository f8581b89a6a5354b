"""Which template a prompt was rendered from, by the lines that the template itself always writes.

The HTTP API carries no template names, so in this process, too, only the text decides: both give the same reply. No
wording of a prompt is repeated in code: a template can be reworded freely, and a copy of it in part.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product

from jinja2 import Environment, nodes

from components.prompts import load

_ENVIRONMENT = Environment(trim_blocks=True, lstrip_blocks=True)  # nothing is rendered
_SHORTEST = 12  # characters of a line that is looked for


def rendered_from(text: str, *templates: str) -> bool:
    """Whether half of the fixed text of one of these templates, each as ``set/template``, is in a text."""
    for lines, spare in fixed(*templates):
        for line in lines:
            if line not in text and (spare := spare - len(line)) < 0:
                break
        else:
            return True
    return False


@cache
def fixed(*templates: str) -> Sequence[tuple[Sequence[str], int]]:
    """The lines that a template always writes, the longest first, and how many of their letters may be missing, for
    each combination of its if/else branches."""
    every = (lines for template in templates for lines in _variants(_body(template)))
    long = ([line for line in lines if len(line) >= _SHORTEST] or lines for lines in every)
    return [(sorted(lines, key=len, reverse=True), sum(map(len, lines)) // 2) for lines in long if any(lines)]


def _body(template: str) -> Iterable[nodes.Node]:
    name, _, stem = template.removesuffix(".jinja").partition("/")
    return _ENVIRONMENT.parse(load(name).texts[stem]).body


def _variants(body: Iterable[nodes.Node]) -> list[list[str]]:
    """The fixed lines for each combination of branches; a loop or a lone ``if`` may write nothing."""
    parts: list[list[list[str]]] = []
    for node in body:
        if isinstance(node, nodes.Output):
            texts = [one.data for one in node.nodes if isinstance(one, nodes.TemplateData)]
            parts.append([[line.strip() for text in texts for line in text.split("\n")]])
        elif isinstance(node, nodes.Include) and isinstance(node.template, nodes.Const):
            parts.append(_variants(_body(node.template.value)))
        elif isinstance(node, nodes.If) and node.else_ and not node.elif_:
            parts.append([*_variants(node.body), *_variants(node.else_)])
    return [[line for part in chosen for line in part] for chosen in product(*parts)]
