"""One rule for numbers: the server and the script write each of tests/vectors/numbers.json alike."""

import json
from pathlib import Path

from app.numbers import show
from tests.js.conftest import Core

FILE = Path(__file__).parent.parent / "vectors" / "numbers.json"
VECTORS = json.loads(FILE.read_text())


def test_the_server():
    assert len(VECTORS) >= 60
    wrong = [(one, found) for one in VECTORS if (found := show(float(one["value"]), one.get("places", 3))) != one["shown"]]
    assert wrong == []


def test_the_script(core: Core):
    found = core("bind", "return JSON.parse(given).map(({ value, places }) => module.show(value, places))", FILE.read_text())
    assert [(one, text) for one, text in zip(VECTORS, found, strict=True) if text != one["shown"]] == []


def test_random_numbers_alike(core: Core):
    """Every power of two, and numbers whose last place is a near tie, in all sizes."""
    numbers = [2.0**power for power in range(-1074, 1024)] + [
        (2 * k + 1) / 2000 * 10**power for power in range(-8, 9) for k in range(0, 500, 7)
    ]
    found = core("bind", "return JSON.parse(given).map((x) => module.show(x))", json.dumps(numbers))
    assert [(x, text, show(x)) for x, text in zip(numbers, found, strict=True) if text != show(x)] == []


def test_superscripts(core: Core):
    assert core("bind", "return [0, 7, -12, 308].map(module.superscript)") == ["⁰", "⁷", "⁻¹²", "³⁰⁸"]
