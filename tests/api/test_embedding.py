"""What an embed's URL may say besides a spec and a step."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.embedding import FIELDS, HIDEABLE, options
from app.specs import SpecError
from app.stories import PAGES

CSS = (Path(__file__).parent.parent.parent / "static/css/embed.css").read_text()
DEFAULT = "scores=6,5,7,6,7,9,8,6"


def test_every_part_that_may_be_hidden_has_a_rule_and_every_field_is_left_out(client: TestClient):
    assert set(re.findall(r'\[data-hide~="(\w+)"\]', CSS)) == set(HIDEABLE) - set(FIELDS)
    for name, widget in PAGES.items():
        page = client.get(f"/widgets/{name}").text
        for field in widget.machine.fields:
            if f'data-field="{field.name}"' in page:
                hidden = client.get(f"/embed/{name}?hide={field.name}").text
                assert re.search(rf'data-field="{field.name}" hidden', hidden) or f'data-field="{field.name}"' not in hidden, (
                    name,
                    field.name,
                )


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("theme=sepia", "use one of auto, light, dark"),
        ("controls=some", "use one of full, step, none"),
        ("hide=next,nothing", "'nothing'"),
        ("lang=xx", "use one of en"),
        ("v=2", "use v=1"),
        ("keys=maybe", "use one of 1, 0"),
        ("caption=no", "use one of 1, 0"),
        ("autoplay=yes", "use one of 0, 1"),
        ("from=x", "'x'"),
        ("from=4&to=2", "give a step from 4 on"),
        ("from=2&to=4&step=1", "'1' is not one of the steps shown; give a whole number from 2 to 4"),
    ],
)
def test_an_unknown_option_gets_a_clear_page_in_the_frame(client: TestClient, query: str, words: str):
    answer = client.get(f"/embed/online-softmax?{query}")
    assert answer.status_code == 422
    assert words in answer.text.replace("&#39;", "'")
    assert "<header" not in answer.text
    assert "x-frame-options" not in answer.headers


def test_pages_leave_options_alone(client: TestClient):
    assert client.get("/widgets/online-softmax?theme=sepia&hide=nothing&utm_source=x").status_code == 200


def test_the_theme_is_in_the_page(client: TestClient):
    assert 'data-theme="dark"' in client.get("/embed/online-softmax?theme=dark").text
    assert "data-theme" not in client.get("/embed/online-softmax?theme=auto").text


def test_a_part_of_the_run(client: TestClient):
    page = client.get(f"/embed/online-softmax?{DEFAULT}&from=2&to=4").text
    assert re.search(r'name="step" id="w-step" min="2" max="4" value="2"', page)
    page = client.get(f"/embed/online-softmax?{DEFAULT}&from=2&to=4&step=4").text
    assert re.search(r'<button name="step" value="4" data-action="next" class="primary" aria-disabled="true">', page)
    assert re.search(r'<button name="step" value="2" data-action="reset">', page)


def test_options_stay_through_a_form(client: TestClient):
    page = client.get("/embed/online-softmax?theme=dark&controls=step&from=1").text
    for name, value in (("theme", "dark"), ("controls", "step"), ("from", "1")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in page


def test_the_values_of_tiled_attention_are_no_version(client: TestClient):
    """Their field is called v, as in every paper."""
    answer = client.get("/embed/tiled-attention?q=1,0;&k=1,2;&v=2,0;&step=1")
    assert answer.status_code == 200
    assert '<input type="hidden" name="v"' not in answer.text


def test_controls_none_leaves_no_control():
    assert {"next", "range", "play", "own", "presets"} <= options({"controls": "none"}).hidden
    assert {"next", "range"}.isdisjoint(options({"controls": "step"}).hidden)
    with pytest.raises(SpecError):
        options({"controls": "all"})
