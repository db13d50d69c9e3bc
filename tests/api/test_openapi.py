"""The OpenAPI document is complete, its examples work, and schemathesis finds nothing that it does not say."""

import os
import re

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from app.machines import MACHINES
from app.main import create_app
from app.routes.schema import pattern
from app.specs import SpecError, fields_of, parse
from app.specs import text as text_of
from app.stories import BY_NAME

schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", create_app())


@schema.parametrize()
@settings(max_examples=int(os.environ.get("EXAMPLES", "40")), deadline=None, suppress_health_check=list(HealthCheck))
def test_every_operation_as_described(case):
    case.call_and_validate(checks=[not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance])


@pytest.fixture(scope="module")
def document(client):
    return client.get("/api/v1/openapi.json").json()


def test_every_field_is_described(document):
    def walk(part, path):
        if isinstance(part, dict):
            for name, field in part.get("properties", {}).items() if isinstance(part.get("properties"), dict) else ():
                assert "description" in field or "$ref" in field, (*path, name)
            for name, inner in part.items():
                walk(inner, (*path, name))
        elif isinstance(part, list):
            for inner in part:
                walk(inner, path)

    walk(document["components"], ())
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (path, method)
            for parameter in operation.get("parameters", ()):
                assert parameter["description"], (path, parameter["name"])


def test_every_example_works(client, document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            examples = {one["name"]: one["example"] for one in operation.get("parameters", ()) if "example" in one}
            url = path.replace("{step}", str(examples.pop("step", "")))
            if method == "get":
                answer = client.get(url, params=examples)
                assert answer.status_code == 200, answer.text
                needed = {one["name"] for one in operation.get("parameters", ()) if one["required"] or one["name"] in "qkv"}
                assert client.get(url, params={name: examples[name] for name in needed & set(examples)}).status_code == 200
            else:
                body = operation["requestBody"]["content"]["application/json"]["example"]
                assert client.post(url, json=body).status_code == 200


def test_the_reader_that_needs_another_host_is_off(client):
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404


@pytest.mark.parametrize("machine", MACHINES.values(), ids=list(MACHINES))
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_a_pattern_allows_is_read(machine, data):
    """One field alone: that rows are of one length, or that values are as many as scores, a pattern cannot say."""
    for one in machine.fields:
        if one.kind in ("vector", "scale"):
            text = data.draw(st.from_regex(pattern(one), fullmatch=True))
            codes = {fault.code for fault in faults(machine, {one.name: text}) if fault.field == one.name}
            assert codes <= {"too_many", "out_of_range"}, text


@pytest.mark.parametrize("machine", MACHINES.values(), ids=list(MACHINES))
def test_what_a_link_writes_is_allowed_by_its_pattern(machine):
    fields = {one.name: one for one in machine.fields}
    for preset in BY_NAME[machine.name].presets:
        for name, value in fields_of(machine, preset.spec).items():
            if fields[name].kind not in ("choice", "integer", "number"):
                assert re.search(pattern(fields[name]), text_of(value)), (preset.name, name)


def faults(machine, given):
    try:
        parse(machine, given, "get")
    except SpecError as error:
        return error.faults
    return []
