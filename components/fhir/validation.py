"""Whether a resource that is sent is one of the standard, by the library ``fhir.resources`` (extra ``fhir``).

Its models are those of R4B (4.3.0): of the six resources served here R4 (4.0.1) has the same elements, and newer
releases of the library have no models of R4. Beyond its models this checks the required value sets and the kinds of
references, which they name and do not enforce.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from components.core.messages import JSON

_LARGEST, _DEEPEST, _SHOWN = 65_536, 20, 10  # bytes of a resource, levels in it, issues that are named
Issue = tuple[str, str, str]  # code of OperationOutcome, what is wrong, where


def outcome(*issues: Issue, severity: str = "error") -> dict[str, Any]:
    """An OperationOutcome."""
    listed = [
        {"severity": severity, "code": code, "diagnostics": text, **({"expression": [where]} if where else {})}
        for code, text, where in issues
    ]
    return {"resourceType": "OperationOutcome", "issue": listed}


def issues_of(resource: str, body: JSON) -> list[Issue]:
    """What is wrong with a resource of this type; nothing where it is valid."""
    if _depth(body) > _DEEPEST or len(orjson.dumps(body)) > _LARGEST:
        text = f"a resource has at most {_LARGEST:,} bytes and {_DEEPEST} levels"
        return [("too-long", text, resource)]
    if body.get("resourceType") != resource:
        text = f"resourceType must be {resource!r}, found {body.get('resourceType')!r:.60}"
        return [("invalid", text, f"{resource}.resourceType")]
    from fhir.resources.R4B import get_fhir_model_class  # a quarter of a second, and an extra
    from pydantic import ValidationError

    model = get_fhir_model_class(resource)
    try:
        model.model_validate(body)
    except ValidationError as error:
        return [_issue(resource, one) for one in error.errors(include_url=False, include_input=False)[:_SHOWN]]
    return list(_codes(resource, body, model.model_fields))


def _issue(resource: str, error: Mapping[str, Any]) -> Issue:
    where = ".".join([resource, *(str(one) for one in error["loc"])])
    code = "required" if error["type"].endswith("missing") else "structure"
    return code, f"{where}: {' '.join(str(error['msg']).split())}", where


def _codes(resource: str, body: JSON, fields: Mapping[str, Any]) -> Iterator[Issue]:
    """Codes outside of required value sets, and references to other kinds than the element takes."""
    for name, field in fields.items():
        known, value, where = field.json_schema_extra or {}, body.get(field.alias or name), f"{resource}.{name}"
        if "enum_values" in known and isinstance(value, str) and value not in known["enum_values"]:
            yield "code-invalid", f"{where}: {value!r:.60} is none of {', '.join(known['enum_values'])}", where
        reference = value.get("reference") if isinstance(value, Mapping) else None
        kinds = known.get("enum_reference_types")
        if kinds and isinstance(reference, str) and "/" in reference and reference.split("/")[-2] not in kinds:
            yield "invalid", f"{where}: {reference!r:.60} is no reference to {' or '.join(kinds)}", where


def _depth(value: Any) -> int:
    """How deep lists and objects are nested; more than the most is not looked at."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        inner = [one for one in level if isinstance(one, Mapping | list)]
        level = [each for one in inner for each in (one.values() if isinstance(one, Mapping) else one)]
        depth += bool(inner)
    return depth
