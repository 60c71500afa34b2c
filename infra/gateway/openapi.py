"""The description of the endpoint in OpenAPI 3.1, made from the forms that check its bodies."""

from functools import cache
from typing import Any, Final

from infra.event_json import model_of
from infra.gateway.forms import CandidatesForm, EventsForm, TurnForm
from schemas.candidate import Candidate
from schemas.turn import TurnRequested

TITLE: Final = "Bounded commitments: control point"
VERSION: Final = "1"
_REFERENCE: Final = "#/components/schemas/{model}"
_ID: Final = {"type": "string", "minLength": 1}
_VALUE: Final = (
    "Typed value: plain JSON without fractions, or one of $decimal, $money, $date, $time, $local, "
    "$timestamp, $elapsed, $period, $set as the only key of an object."
)


@cache
def describe_api() -> dict[str, Any]:
    """Return the description; it needs no log."""
    schemas: dict[str, Any] = {}
    for model in (TurnForm, CandidatesForm, EventsForm, model_of(TurnRequested),
                  model_of(Candidate)):  # fmt: skip
        described = model.model_json_schema(ref_template=_REFERENCE)
        schemas |= described.pop("$defs", {})
        schemas[model.__name__] = described
    schemas["TurnForm"]["properties"]["turn"] = {"$ref": _REFERENCE.format(model="TurnRequested")}
    offered = {"$ref": _REFERENCE.format(model="Candidate")}
    for name in ("TurnForm", "CandidatesForm"):
        listed = {"type": "array", "items": offered, "maxItems": 64}
        schemas[name]["properties"]["candidates"] = {"anyOf": [listed, {"type": "null"}]}
    schemas["CandidatesForm"]["required"].append("candidates")
    schemas["Error"] = _describe_error()
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": VERSION, "description": _VALUE},
        "paths": _describe_paths(),
        "components": {"schemas": schemas},
    }


def _describe_paths() -> dict[str, Any]:
    turn = {"name": "turn_id", "in": "path", "required": True, "schema": _ID}
    user = {"name": "user", "in": "path", "required": True, "schema": _ID}
    asked = {"name": "user", "in": "query", "required": True, "schema": _ID}
    tenant = {"name": "tenant", "in": "query", "schema": {**_ID, "default": "default"}}
    return {
        "/v1/events": {
            "post": _operate("Append events; says what became of each.", "EventsForm", (200, 422))
        },
        "/v1/turns": {
            "post": _operate(
                "Ask for one outcome; without candidates the packet comes back.",
                "TurnForm",
                (200, 202, 422),
            )
        },
        "/v1/turns/{turn_id}/candidates": {
            "parameters": [turn],
            "post": _operate("Answer a pending packet.", "CandidatesForm", (200, 202, 422)),
        },
        "/v1/turns/{turn_id}": {
            "parameters": [turn, asked, tenant],
            "get": _operate("What is known of a turn.", None, (200, 202, 404)),
        },
        "/v1/users/{user}": {
            "parameters": [user, tenant],
            "get": _operate("What is in force and open for a user.", None, (200,)),
        },
        "/v1/health": {"get": _operate("Whether it serves.", None, (200,))},
        "/v1/openapi.json": {"get": _operate("This description.", None, (200,))},
    }


def _operate(summary: str, form: str | None, statuses: tuple[int, ...]) -> dict[str, Any]:
    meanings = {
        200: "Decided, or told.",
        202: "Pending: the packet waits for candidates.",
        404: "Not known.",
        422: "The core rejected an event; the reason stands beside it.",
    }
    told = {"application/json": {"schema": {"type": "object"}}}
    wrong = {"application/json": {"schema": {"$ref": _REFERENCE.format(model="Error")}}}
    refused = (400, 401, 403, 413, 503) if form else (400, 401, 403, 503)
    responses = {str(one): {"description": meanings[one], "content": told} for one in statuses}
    for one in refused:
        responses[str(one)] = {"description": "Refused; the error names the field.",
                               "content": wrong}  # fmt: skip
    operation: dict[str, Any] = {"summary": summary, "responses": responses}
    if form is not None:
        schema = {"$ref": _REFERENCE.format(model=form)}
        operation["requestBody"] = {
            "required": True, "content": {"application/json": {"schema": schema}}
        }  # fmt: skip
    return operation


def _describe_error() -> dict[str, Any]:
    names = ("field", "message", "remedy")
    return {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in names},
                "required": list(names),
            }
        },
        "required": ["error"],
    }
