"""The least that FastAPI can do for a snapshot: one route, no middleware, a model made once and returned each time."""

import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel, create_model

from app import runs
from app.machines import MACHINES
from app.stories import BY_NAME
from tests.bench.servers import HOST

STEP = 6  # of the eight-score run: the new highest


def kind(name: str, *examples: Any) -> Any:
    """A type for JSON values that are alike: for objects a model with their fields, optional where some do without, and so on down.

    >>> kind("A", {"m": 1.0, "of": [{"b": True}, {}]}).model_validate({"m": 2, "of": []})
    A(m=2.0, of=[])
    """
    first = examples[0]
    if isinstance(first, dict):
        fields: dict[str, Any] = {}
        for key in dict.fromkeys(key for one in examples for key in one):
            values = [one[key] for one in examples if key in one]
            found = kind(f"{name}_{key}", *values)
            fields[key] = (found, ...) if len(values) == len(examples) else (found | None, None)
        return create_model(name, **fields)
    if isinstance(first, list):
        entries = [entry for one in examples for entry in one]
        return list[kind(name, *entries)] if entries else list[Any]  # type: ignore[misc]
    return type(first)


def ready() -> BaseModel:
    """The snapshot that the cached route is asked for, as a model."""
    shot = runs.snapshot(MACHINES["online-softmax"], BY_NAME["online-softmax"].presets[0].spec, STEP)
    made: BaseModel = kind("Snapshot", shot).model_validate(shot)
    return made


def create() -> FastAPI:
    model = ready()
    app = FastAPI()

    async def snapshot() -> Any:
        return model

    app.add_api_route("/snapshot", snapshot, response_model=type(model), response_model_exclude_unset=True)
    return app


if __name__ == "__main__":
    uvicorn.run(create(), host=HOST, port=int(sys.argv[1]), log_level="warning", timeout_graceful_shutdown=1)
