"""Whether a resource that is sent is one of the standard, by the library ``fhir.resources``.

Its models are those of R4B (4.3.0): of the six resources served here R4 (4.0.1) has the same elements, and newer
releases of the library have no models of R4. Beyond its models this refuses null and numbers for dates, and checks the
required value sets and the types that references name.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from components.core.messages import JSON
from components.text.structured import inside, is_deeper

DEEPEST = 20  # levels of a resource
_LARGEST, _SHOWN, _LONGEST = 65_536, 10, 300  # bytes of a resource, issues that are named, characters of one
Issue = tuple[str, str, str]  # code of OperationOutcome, diagnostics, expression


def outcome(*issues: Issue, severity: str = "error") -> dict[str, Any]:
    """An OperationOutcome."""
    listed = [
        {"severity": severity, "code": code, "diagnostics": text[:_LONGEST], **({"expression": [at]} if at else {})}
        for code, text, at in issues
    ]
    return {"resourceType": "OperationOutcome", "issue": listed}


def standard_form(body: JSON) -> dict[str, Any]:
    """A resource with a note as a list and a route as an object, where it has an object and a text: the benchmark's
    cards ask for the one, and its reference solutions for the other."""
    changed, dosages = dict(body), body.get("dosageInstruction")
    if isinstance(note := body.get("note"), Mapping):
        changed["note"] = [note]
    if isinstance(dosages, list):
        changed["dosageInstruction"] = [
            {**one, "route": {"text": one["route"]}}
            if isinstance(one, Mapping) and isinstance(one.get("route"), str)
            else one
            for one in dosages
        ]
    return changed


def issues_of(resource: str, body: JSON) -> list[Issue]:
    """What is wrong with a resource of this type; nothing where it is valid."""
    if is_deeper(body, DEEPEST) or len(sent := orjson.dumps(body)) > _LARGEST:
        return [("too-long", f"a resource has at most {_LARGEST:,} bytes and {DEEPEST} levels", resource)]
    if body.get("resourceType") != resource:
        text = f"resourceType must be {resource!r}, found {body.get('resourceType')!r:.60}"
        return [("invalid", text, f"{resource}.resourceType")]
    if "contained" in body:  # of any type, whose models the library would import
        return [("not-supported", "contained resources are not supported", f"{resource}.contained")]
    from fhir.resources.R4B import get_fhir_model_class  # a quarter of a second
    from pydantic import ValidationError

    model = get_fhir_model_class(resource)
    try:
        model.model_validate(body)
    except ValidationError as error:
        return [_issue(resource, one) for one in error.errors(include_url=False, include_input=False)[:_SHOWN]]
    nulls = [("structure", "null is no value in FHIR", resource)] if b"null" in sent and _has_null(body) else []
    return [*nulls, *_elements(resource, body, model.model_fields)][:_SHOWN]


def _has_null(value: Any) -> bool:
    return value is None or any(map(_has_null, inside(value)))


def _issue(resource: str, error: Mapping[str, Any]) -> Issue:
    where = ".".join([resource, *(str(one) for one in error["loc"])])[:_LONGEST]
    code = "required" if error["type"].endswith("missing") else "structure"
    return code, f"{where}: {' '.join(str(error['msg']).split())}", where


def _elements(resource: str, body: JSON, fields: Mapping[str, Any]) -> Iterator[Issue]:
    """Numbers in place of dates, codes outside of required value sets, and references to other types."""
    for name, field in fields.items():
        known, value, where = field.json_schema_extra or {}, body.get(field.alias or name), f"{resource}.{name}"
        if isinstance(value, int | float) and "date" in str(field.annotation):
            yield "structure", f"{where}: a date is a text, found {value!r:.60}", where
        if "enum_values" in known and isinstance(value, str) and value not in known["enum_values"]:
            yield "code-invalid", f"{where}: {value!r:.60} is none of {', '.join(known['enum_values'])}", where
        reference = value.get("reference") if isinstance(value, Mapping) else None
        types = known.get("enum_reference_types")
        if types and isinstance(reference, str) and "/" in reference and reference.split("/")[-2] not in types:
            yield "invalid", f"{where}: {reference!r:.60} is no reference to {' or '.join(types)}", where
