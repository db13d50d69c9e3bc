"""The stage's parts by themselves: a chart's marks at a step, their drawing, the timeline, Plotly's place, and gestures."""

import pytest

from app.charts.marks import Chart, Mark, changes_as_sent, still_as_sent
from tests.js.conftest import Core

FIRST = Chart(
    "bars",
    "Bars",
    (100.0, 100.0),
    (Mark("rule", "line", "rule", (0, 50, 100, 0)),),
    (
        Mark("bar/0", "rect", "unread", (10, 96, 20, 4), name="size of score 3"),
        Mark("number/0", "text", "none", (20, 90, 0, 0)),
        Mark("was/0", "rect", "none", (10, 100, 20, 0), passing=True),
        Mark("travels", "rect", "none", (0, 0, 1, 1), passing=True),
    ),
    (100, 200, 300),
)
NEXT = Chart(
    "bars",
    "Bars",
    (100.0, 100.0),
    FIRST.still,
    (
        Mark("bar/0", "rect", "kept", (10, 50, 20, 50), was=(10, 0, 20, 100), beat=1, value=0.5, value_was=1.0, name="size of score 3"),
        Mark("number/0", "text", "number", (20, 46, 0, 0), "ℓ = 0.500", was=(20, -4, 0, 0), beat=1, value=0.5, value_was=1.0),
        Mark("was/0", "rect", "was", (10, 0, 20, 100), beat=2, passing=True),
        Mark("travels", "rect", "none", (60, 60, 10, 10), was=(60, 0, 10, 10), beat=0, moving="now-cell", passing=True),
    ),
    FIRST.beats,
)
GIVEN = {"told": still_as_sent(FIRST), "shot": {"step": 1, "charts": {"bars": changes_as_sent(NEXT, FIRST)}}}
STAGE = """
  const root = document.createElement("section");
  root.id = "u";
  root.innerHTML = `<div data-swap="bars"><svg viewBox="0 0 100 100" width="100" height="100"><g class="chart chart-bars">
    ${given.told.marks.map(([key, shape]) => `<${shape} data-key="${key}" data-role="none"></${shape}>`).join("")}</g></svg></div>`;
  document.body.append(root);
  const mark = (key) => root.querySelector(`[data-key="${key}"]`);
  const stage = new module.Stage(root);
  stage.take({ bars: given.told }, { step: 0 });
  const done = (found) => { stage.finish(); root.remove(); return found; };
"""


def test_a_step_is_the_first_one_but_for_what_is_sent(core: Core):
    marks = core("chart", "const one = new module.Chart('bars', given.told); return one.at(given.shot);", GIVEN)
    assert [(one["key"], one["role"], one["box"]) for one in marks] == [(one.key, one.role, list(one.box)) for one in NEXT.marks]
    assert (marks[0]["was"], marks[0]["beat"], marks[0]["value"], marks[0]["name"]) == ([10, 0, 20, 100], 1, 0.5, "size of score 3")
    assert (marks[2]["passing"], marks[3]["moving"]) == (True, "now-cell")


def test_a_drawing_is_patched_by_keys(core: Core):
    told = core(
        "stage",
        STAGE + "stage.show(given.shot); const bar = mark('bar/0');"
        "return done([bar.dataset.role, bar.getAttribute('y'), bar.getAttribute('height'), mark('number/0').textContent, mark('travels').dataset.role]);",
        GIVEN,
    )
    assert told == ["kept", "50", "50", "ℓ = 0.500", "none"]


def test_the_next_step_moves_beat_by_beat_and_a_far_one_does_not(core: Core):
    told = core(
        "stage",
        STAGE
        + """
        const times = () => root.getAnimations({ subtree: true }).map((one) => [one.effect.target.dataset.key, one.effect.getTiming().delay, one.effect.getTiming().duration]);
        stage.show({ ...given.shot, step: 5 }, { forward: true });
        const far = times();
        stage.take({ bars: given.told }, { step: 0 });
        stage.show(given.shot, { forward: true, rate: 2 });
        return done([far, times(), mark("travels").dataset.role]);""",
        GIVEN,
    )
    far, near, travelling = told
    assert far == []
    assert travelling == "now-cell"
    assert ["bar/0", 50, 100] in near
    assert ["number/0", 50, 100] in near
    assert ["was/0", 0, 150] in near  # hidden until its beat
    assert ["travels", 0, 50] in near
    assert ["travels", 50, 250] in near  # and gone once it has come


def test_a_finished_step_is_as_the_server_draws_it(core: Core):
    told = core(
        "stage",
        STAGE
        + """
        stage.show(given.shot, { forward: true });
        for (const one of root.getAnimations({ subtree: true })) one.finish();
        await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
        return done([root.getAnimations({ subtree: true }).length, mark("number/0").textContent, mark("travels").dataset.role]);""",
        GIVEN,
    )
    assert told == [0, "ℓ = 0.500", "none"]


def test_slowly_it_is_held_after_a_beat_and_goes_on_from_there(core: Core):
    told = core(
        "stage",
        STAGE
        + """
        const state = () => root.getAnimations({ subtree: true }).map((one) => [one.effect.target.dataset.key, Math.round(one.currentTime), one.playState]);
        const until = (time) => new Promise((held) => { const look = () => (state().every(([, , play]) => play === "paused") ? held() : setTimeout(look, 10)); look(); });
        stage.show(given.shot, { phase: 0 });
        await until();
        const first = state();
        stage.show(given.shot, { phase: 1 });
        await until();
        return done([first, state()]);""",
        GIVEN,
    )
    assert {time for _, time, _ in told[0]} == {100}
    assert {time for _, time, _ in told[1]} == {300}


@pytest.mark.parametrize(
    ("mark", "progress", "offset", "said"),
    [
        ({"text": "ℓ = 0.500", "value": 0.5, "before": 1}, 0, [], "ℓ = 1"),
        ({"text": "ℓ = 0.500", "value": 0.5, "before": 1}, 1, [], "ℓ = 0.500"),
        ({"text": "2 of 2: 2", "value": 2, "before": 1}, 0, [], "2 of 2: 1"),
        ({"text": "∞", "value": None, "before": 1}, 0.5, [], "∞"),
        ({"text": "3", "value": 3, "before": 1, "via": [0, [0, 0, 0, 0], 2]}, 0.5, [0, 0.4, 0.6, 1], "2"),
        ({"text": "masked", "value": 0, "before": 1}, 0.5, [], "masked"),
    ],
)
def test_what_a_mark_says_on_its_way(core: Core, mark: dict[str, object], progress: float, offset: list[float], said: str):
    body = "const { value, ...mark } = given.mark; return module.counted({ ...mark, value: value ?? undefined }, given.progress, given.offset);"
    assert core("timeline", body, {"mark": mark, "progress": progress, "offset": offset}) == said


def test_it_counts_as_the_browser_moves(core: Core):
    """The easing that numbers go by is the one that the marks go by."""
    apart = core(
        "timeline",
        """const one = document.createElement("i"); document.body.append(one);
        const move = one.animate({ opacity: [0, 1], easing: "cubic-bezier(.45, .05, .35, 1)" }, 1000); move.pause();
        const found = [0, .1, .25, .5, .75, .9, 1].map((part) => { move.currentTime = 1000 * part; return Math.abs(module.eased(part) - (part === 1 ? 1 : Number(getComputedStyle(one).opacity))); });
        one.remove(); return found;""",
    )
    assert max(apart) < 0.002


@pytest.mark.parametrize(
    ("shape", "drawn", "to", "wanted"),
    [
        ("rect", [10, 50, 20, 50], [10, 0, 20, 100], "translate(0px, -100px) scale(1, 2)"),
        ("text", [10, 50, 0, 0], [12, 40, 0, 0], "translate(2px, -10px) scale(1, 1)"),
        ("path", [10, 50, 0, 0], [12, 40, 0, 0], "translate(12px, 40px)"),
        ("rect", [10, 50, 20, 50], [10, 100, 20, 0], "translate(0px, 100px) scale(1, 0)"),
    ],
)
def test_where_a_mark_is_shown_that_is_drawn_elsewhere(core: Core, shape: str, drawn: list[int], to: list[int], wanted: str):
    given = {"drawn": drawn, "mark": {"shape": shape}, "to": to}
    assert core("timeline", "return module.moved(given, given.to);", given) == wanted


def test_a_finger_steps_and_a_mouse_does_not(core: Core):
    told = core(
        "gestures",
        """const root = document.createElement("section");
        root.innerHTML = '<div class="scene"><div class="frame"><b></b></div><label><b></b></label></div><details data-part="menu" open><summary></summary></details>';
        document.body.append(root);
        const steps = []; module.gestures(root, { move: (way) => steps.push(way), first: () => {}, last: () => {} });
        const press = (where, pointerType) => root.querySelector(where).dispatchEvent(new PointerEvent("pointerup", { bubbles: true, pointerType }));
        press(".frame b", "touch"); press(".frame b", "mouse"); press("label b", "touch");
        root.querySelector("summary").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
        const open = root.querySelector("details").open; root.remove(); return [steps, open];""",
    )
    assert told == [[1], False]


SWEPT = {
    "field": "offset",
    "values": [0, 1],
    "charts": {"bars": still_as_sent(FIRST)},
    "snapshots": [{"step": 1, "charts": {}}, {"step": 1, "charts": {"bars": changes_as_sent(NEXT, FIRST)}}],
}
SWEEPING = """
  const form = document.createElement("form");
  form.innerHTML = '<input type="range" name="offset" min="0" max="100" data-sweep><input type="range" name="other" min="0" max="100">';
  document.body.append(form);
  const [offset, other] = form.elements;
  const asked = [], shown = [];
  let where = "/sweeps/1?scores=1";
  const sweep = new module.Sweep(form, { address: () => where, show: (snapshot, charts) => shown.push([snapshot, [...charts.keys()]]),
    get: async (url) => { asked.push(url); if (url.includes("broken")) throw new Error("no"); return given; } });
  const done = (found) => { form.remove(); return found; };
"""


def test_a_sliders_states_are_asked_for_once_and_shown_at_once(core: Core):
    told = core(
        "sweep",
        SWEEPING
        + """
        offset.value = 1;
        const before = sweep.glimpse(offset);
        offset.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
        offset.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
        other.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
        await new Promise((done) => setTimeout(done));
        const here = sweep.glimpse(offset);
        offset.value = 50;
        return done([before, here, sweep.glimpse(offset), sweep.glimpse(other), asked, shown.length, shown[0][0].step, shown[0][1]]);""",
        SWEPT,
    )
    assert told == [False, True, False, False, ["/sweeps/1?scores=1"], 1, 1, ["bars"]]


def test_for_another_step_they_are_asked_for_anew_and_where_they_do_not_come_nothing_is_shown(core: Core):
    told = core(
        "sweep",
        SWEEPING
        + """
        offset.value = 1;
        await sweep.ask();
        where = "/sweeps/2?scores=1";
        const stale = sweep.glimpse(offset);
        where = "/broken";
        await sweep.ask();
        const broken = sweep.glimpse(offset);
        await sweep.ask();
        return done([stale, broken, asked]);""",
        SWEPT,
    )
    assert told == [False, False, ["/sweeps/1?scores=1", "/broken", "/broken"]]
