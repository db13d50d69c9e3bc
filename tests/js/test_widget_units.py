"""The parts of a widget, each with a small page of its own and what it is handed played by the test."""

from typing import Any

import pytest

from tests.js.conftest import Core

MADE = """
  const made = (html) => { const box = document.createElement("div"); box.innerHTML = html; document.body.append(box); return box; };
  const log = [];
  const told = (name) => (...given) => { log.push([name, ...given]); };
  const turn = (ms = 0) => new Promise((done) => setTimeout(done, ms));
  const key = (element, key, more = {}) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  const typed = (field, value) => { field.value = value; field.dispatchEvent(new Event("input", { bubbles: true })); };
  const page = (html) => new DOMParser().parseFromString(html, "text/html");
"""


@pytest.fixture
def part(core: Core) -> Core:
    def run(name: str, body: str, given: Any = None) -> Any:
        return core(name, f"{MADE} let box; try {{ {body} }} finally {{ box?.remove(); }}", given)

    return run


TRANSPORT = """
  box = made(`<input type="range" name="step"><output data-part="position"></output><input type="text"><p data-part="table" tabindex="0"></p>
    ${["reset", "back", "next", "play"].map((name) => "<button data-action=" + name + "></button>").join("")}
    <select data-action="speed"><option value="0.5"><option value="2"></select>`);
  const player = { first: 1, steps: 5, speed: 1 };
  const transport = new module.Transport(box, player, { move: told("move"), seek: told("seek"), toggle: told("toggle") });
  const ends = () => ["reset", "back", "next"].map((name) => [transport.buttons[name].ariaDisabled, transport.buttons[name].value]);
"""


class TestTransport:
    @pytest.mark.parametrize(
        ("step", "left", "ends"),
        [
            (1, False, [["true", "1"], ["true", "1"], [None, "2"]]),
            (3, False, [[None, "1"], [None, "2"], [None, "4"]]),
            (5, False, [[None, "1"], [None, "4"], ["true", "5"]]),
            (5, True, [[None, "1"], [None, "4"], [None, "5"]]),
        ],
    )
    def test_what_it_shows(self, part: Core, step: int, left: bool, ends: list[Any]):
        body = "transport.show(given[0], 8, given[1]); const { min, max, value, ariaValueText } = transport.range; return [ends(), min, max, value, ariaValueText, transport.position.textContent];"
        told = part("transport", TRANSPORT + body, [step, left])
        assert told == [ends, "1", "5", str(step), f"step {step} of 8", f"{step} of 8"]

    def test_keys(self, part: Core):
        body = "for (const one of ['ArrowRight', 'ArrowLeft', 'Home', 'End', 'k', 'x']) key(transport.buttons.next, one); return log;"
        assert part("transport", TRANSPORT + body) == [["move", 1], ["move", -1], ["seek", 1], ["seek", 5], ["toggle"]]

    def test_keys_leave_fields_tables_and_other_combinations_alone(self, part: Core):
        body = """for (const one of box.querySelectorAll("input, select, p")) key(one, "ArrowRight");
          key(transport.buttons.next, "ArrowRight", { altKey: true });
          box.dataset.keys = "0"; key(transport.buttons.next, "ArrowRight"); return log;"""
        assert part("transport", TRANSPORT + body) == []

    def test_range_speed_and_play(self, part: Core):
        body = """transport.show(1, 5, false); typed(transport.range, "4");
          const speed = box.querySelector("select"); speed.value = "2"; speed.dispatchEvent(new Event("change"));
          transport.playing(true); const on = transport.buttons.play.textContent; transport.playing(false);
          return [log, player.speed, on, transport.buttons.play.textContent];"""
        assert part("transport", TRANSPORT + body) == [[["seek", 4]], 2, "Pause", "Play"]


PHASES = """
  box = made("<button></button>");
  const shot = (step, count) => ({ step, event: { phases: count ? Array(count).fill("p") : undefined } });
  const phases = new module.Phases(box, (snapshot, phase) => ({ ...snapshot, phase }));
"""


class TestPhases:
    def test_a_step_is_whole_until_it_is_taken_slowly(self, part: Core):
        body = "const one = shot(1, 3); phases.enter(1, one); return [phases.at ?? null, phases.seen(one) === one, phases.move(1, one), phases.left(one)];"
        assert part("steps", PHASES + body) == [None, True, False, False]

    def test_onward_and_back(self, part: Core):
        body = """phases.toggle(box.firstChild); const one = shot(1, 3); phases.enter(1, one);
          const found = [[phases.seen(one).phase, phases.left(one)]];
          for (const way of [1, 1, 1, -1]) found.push([phases.move(way, one), phases.at, phases.left(one)]);
          return found;"""
        assert part("steps", PHASES + body) == [[0, True], [True, 1, True], [True, 2, False], [False, 2, False], [True, 1, True]]

    def test_back_from_a_whole_step_drops_its_last_phase(self, part: Core):
        assert part("steps", PHASES + "phases.toggle(box.firstChild); return [phases.move(-1, shot(1, 3)), phases.at];") == [True, 1]

    def test_back_to_a_step_shows_the_whole_of_it(self, part: Core):
        body = "phases.toggle(box.firstChild); phases.enter(1, shot(2, 3)); const part = phases.whole(); phases.enter(-1, shot(1, 3)); return [part, phases.at ?? null, phases.whole()];"
        assert part("steps", PHASES + body) == [True, None, False]

    def test_the_switch(self, part: Core):
        body = """const says = () => [box.firstChild.ariaPressed, "slow" in box.dataset, phases.count(shot(1, 3)), phases.count(shot(1, 0))];
          phases.toggle(box.firstChild); const on = says(); phases.toggle(box.firstChild); return [on, says()];"""
        assert part("steps", PHASES + body) == [["true", True, 3, 0], ["false", False, 0, 0]]


ADDRESS = """
  const place = new EventTarget();
  place.location = { search: "?scores=1,2&utm_a=b" };
  const went = (how) => (_, __, url) => { if (given?.throws) throw new Error("no"); log.push([how, url]); place.location.search = "?" + url.split("?")[1]; };
  place.history = { pushState: went("push"), replaceState: went("replace") };
  const shot = (scores, step) => ({ step, links: { page: `widgets/x?scores=${scores}&step=${step}`, embed: `embed/x?scores=${scores}&step=${step}` } });
  const make = (more = {}) => new module.Address({ base: "/b/", kind: "page", owns: true, extras: () => new URLSearchParams(given?.extras), opened: shot("1,2", 0), travel: told("travel"), place, ...more });
"""


class TestAddress:
    def test_a_step_is_no_entry_and_a_changed_spec_is(self, part: Core):
        body = "const one = make(); one.write(shot(1, 1)); one.turn(shot(1, 1), shot(2, 1), ''); one.write(shot(2, 1)); one.write(shot(2, 2)); one.turn(shot(2, 2), shot(2, 0), ''); one.write(shot(2, 0)); return log.map(([how]) => how);"
        assert part("address", ADDRESS + body) == ["replace", "push", "replace", "replace"]

    def test_a_visit_of_a_field_is_one_entry(self, part: Core):
        body = "const one = make(); for (const [n, visit] of [[2, 'a 1'], [3, 'a 1'], [4, 'a 2']]) { one.turn(shot(n - 1, 0), shot(n, 0), visit); one.write(shot(n, 0)); } return log.map(([how]) => how);"
        assert part("address", ADDRESS + body) == ["push", "replace", "push"]

    def test_what_is_shown_besides_is_kept(self, part: Core):
        body = "const one = make(); one.keep('view', 'projector'); one.write(shot(1, 1)); one.keep('view'); one.write(shot(1, 2)); return [...log, one.of(shot(1, 2))];"
        assert part("address", ADDRESS + body, {"extras": "beside=fa1"}) == [
            ["replace", "/b/widgets/x?scores=1&step=1&view=projector&beside=fa1"],
            ["replace", "/b/widgets/x?scores=1&step=2&beside=fa1"],
            "widgets/x?scores=1&step=2&beside=fa1",
        ]

    def test_a_frame_has_no_entries_and_a_guest_no_address(self, part: Core):
        body = """for (const more of [{ kind: "embed" }, { owns: false }]) { const one = make(more); one.turn(shot(1, 0), shot(2, 0), ""); one.write(shot(2, 0)); }
          place.location.search = "?else"; place.dispatchEvent(new Event("popstate")); return log;"""
        assert part("address", ADDRESS + body) == [["replace", "/b/embed/x?scores=2&step=0"]]

    def test_back_and_forward(self, part: Core):
        body = """make().write(shot(2, 3)); const pop = (search) => { place.location.search = search; place.dispatchEvent(new Event("popstate")); };
          pop(place.location.search); pop("?scores=9"); pop(""); return log.slice(1);"""
        assert part("address", ADDRESS + body) == [["travel", "?scores=9"], ["travel", "?scores=1,2&step=0"]]

    def test_a_browser_that_allows_no_change_is_let_be(self, part: Core):
        assert (
            part("address", ADDRESS + "make().write(shot(1, 1)); return place.location.search;", {"throws": True}) == "?scores=1,2&utm_a=b"
        )

    def test_links(self, part: Core):
        body = """box = made('<a data-action="share"></a><a data-action="projector"></a><a data-follows></a>'); make().link(box, shot(1, 2));
          return [...box.children].map((link) => link.getAttribute("href"));"""
        here = "/b/widgets/x?scores=1&step=2"
        assert part("address", ADDRESS + body, {"extras": "beside=fa1"}) == [
            f"{here}&beside=fa1",
            f"{here}&beside=fa1&view=projector",
            here,
        ]


LOADER = """
  const asked = [];
  const get = (url) => new Promise((come, fail) => asked.push({ url, come: (body, ok = true) => { come({ ok, page: body }); return turn(); }, fail: (error) => { fail(error); return turn(); } }));
  const loader = new module.Loader({ address: "/w", begins: told("begins"), busy: told("busy"), take: ({ page, fill }) => log.push(["take", page, fill]), say: told("say"), get, later: [0, 0] });
"""


class TestLoader:
    def test_one_change(self, part: Core):
        told = part("loader", LOADER + "loader.load('?a', true); await asked[0].come('A'); return [asked[0].url, log];")
        assert told == ["/w?a", [["begins"], ["busy", True], ["take", "A", True], ["busy", False]]]

    def test_an_answer_that_was_overtaken_is_dropped(self, part: Core):
        body = "loader.load('?a', false, { settle: told('settle') }); loader.load('?b', false); await asked[1].come('B'); await asked[0].come('A'); return [log.filter(([what]) => what === 'take'), log.filter(([what]) => what === 'settle').length];"
        assert part("loader", LOADER + body) == [[["take", "B", False]], 1]

    def test_answers_in_order_are_all_taken(self, part: Core):
        body = "loader.load('?a'); loader.load('?b'); await asked[0].come('A'); await asked[1].come('B'); return log.filter(([what]) => what === 'take').map(([, page]) => page);"
        assert part("loader", LOADER + body) == ["A", "B"]

    def test_three_fly_and_of_the_rest_only_the_latest_matters(self, part: Core):
        body = """for (const one of "abcd") loader.load(`?${one}`, false, { settle: (why) => log.push([one, why]) }); loader.load("?e", false);
          const before = asked.length; await asked[0].come("A"); return [before, asked.map(({ url }) => url), log.filter(([what]) => what === "d")];"""
        told = part("loader", LOADER + body)
        assert told[:2] == [3, ["/w?a", "/w?b", "/w?c", "/w?e"]]
        assert told[2] == [["d", "another state was asked for before this one came"]]

    def test_what_was_on_its_way_before_a_journey_is_dropped(self, part: Core):
        body = "loader.load('?a'); loader.drop(); loader.load('?b'); await asked[0].come('A'); await asked[1].come('B'); return log.filter(([what]) => what === 'take').map(([, page]) => page);"
        assert part("loader", LOADER + body) == ["B"]

    def test_a_change_that_failed_comes_by_itself_and_is_told_of_once(self, part: Core):
        body = """loader.load("?a"); await asked[0].fail(new TypeError("Failed to fetch")); await turn(5); await asked[1].fail(new TypeError("Failed to fetch")); await turn(5); await asked[2].come("A");
          return [log.filter(([what]) => what === "say").map(([, words]) => words), log.filter(([what]) => what === "begins").length, log.at(-2)];"""
        said = "The server cannot be reached: what is loaded still steps; the change comes by itself once it is back."
        assert part("loader", LOADER + body) == [[said], 1, ["take", "A", None]]

    def test_unless_something_else_is_asked_for_or_somebody_was_told(self, part: Core):
        body = """loader.load("?a"); await asked[0].fail(new TypeError("no")); loader.soon(() => log.push(["soon"]), 0); await turn(5);
          loader.load("?b", false, { settle: told("settle") }); await asked[1].fail(new TypeError("no")); await turn(5);
          return [asked.length, log.filter(([what]) => what === "soon" || what === "settle")];"""
        assert part("loader", LOADER + body) == [2, [["soon"], ["settle", "The server cannot be reached"]]]


FORM = """
  box = made(`<div id="u"><form>
    <input type="range" name="step" value="2"><div data-field="dial"><input type="range" name="dial" id="u-dial" min="0" max="10" value="0"><output for="u-dial" data-signed>+0</output></div>
    <div data-field="plain"><input type="range" name="plain" id="u-plain" min="-9" max="10" value="0"><output for="u-plain">0</output></div>
    <details><div data-field="row" data-clears="seed"><textarea name="row"></textarea><p data-part="read" id="u-row-read"></p></div></details>
    <div data-field="seed"><input type="text" name="seed" value="7"></div><select name="beside" data-extra><option value=""><option value="fa1"></select></form></div>`);
  const form = new module.SpecForm(box.querySelector("form"), { id: "u", step: (start) => (start ? 0 : 2), soon: (go, ms) => { log.push(["soon", ms]); go(); }, load: told("load") });
  const field = (name) => form.form.elements.namedItem(name);
  const outputs = () => [...box.querySelectorAll("output")].map((one) => one.textContent);
"""


class TestSpecForm:
    def test_a_dial_is_read_at_once_where_it_is_and_a_text_after_a_pause_from_the_start(self, part: Core):
        told = part("spec-form", FORM + "typed(field('dial'), '3'); typed(field('row'), '1,2'); return log;")
        assert told == [
            ["soon", 0],
            ["load", "?dial=3&plain=0&row=&seed=7&beside=&step=2", False, {"visit": "dial 0"}],
            ["soon", 350],
            ["load", "?dial=3&plain=0&row=1%2C2&seed=&beside=&step=0", False, {"visit": "row 0"}],
        ]

    def test_amounts_are_shown_with_their_sign_where_the_page_says_so(self, part: Core):
        assert part("spec-form", FORM + "typed(field('dial'), '3'); typed(field('plain'), '4'); return outputs();") == ["+3", "4"]

    def test_each_visit_of_a_field_has_a_name(self, part: Core):
        body = "typed(field('dial'), '3'); typed(field('dial'), '4'); field('dial').dispatchEvent(new Event('focusout', { bubbles: true })); typed(field('dial'), '5'); return log.filter(([what]) => what === 'load').map(([, , , { visit }]) => visit);"
        assert part("spec-form", FORM + body) == ["dial 0", "dial 0", "dial 1"]

    def test_enter_starts_over_and_the_step_is_no_field_of_it(self, part: Core):
        body = "typed(field('step'), '1'); const none = log.length; key(field('seed'), 'Enter'); return [none, form.restart, log[0][1]];"
        assert part("spec-form", FORM + body) == [0, True, "?dial=0&plain=0&row=&seed=7&beside=&step=0"]

    def test_a_preset_keeps_what_is_shown_beside(self, part: Core):
        body = "field('beside').value = 'fa1'; const link = document.createElement('a'); link.href = '?seed=9'; form.follow(link); return [log, String(form.extras())];"
        assert part("spec-form", FORM + body) == [[["load", "?seed=9&beside=fa1", True]], "beside=fa1"]

    def test_an_answer_fills_fields_and_how_far_their_ranges_go(self, part: Core):
        body = """const fresh = page('<section><div data-field="dial"><input type="range" name="dial" min="-5" max="200" step="any" value="120.5"><output for="w-dial">+120.500</output></div><div data-field="seed"><input type="text" name="seed" value="8"></div></section>').querySelector("section");
          form.fill(fresh); form.amounts(fresh); const { min, max, step, value } = field("dial"); return [min, max, step, value, field("seed").value, outputs()];"""
        assert part("spec-form", FORM + body) == ["-5", "200", "any", "120.5", "8", ["+120.500", ""]]

    def test_what_is_wrong_stands_beside_its_field_until_it_is_right(self, part: Core):
        body = """const says = () => { const { ariaInvalid } = field("row"); return [ariaInvalid, field("row").getAttribute("aria-describedby"), box.querySelector(".x")?.id ?? null, box.querySelector(".x")?.role ?? null, box.querySelector("details").open]; };
          form.faults(page('<p class="x" data-part="error" data-for="row">No.</p>')); const wrong = says(); box.querySelector("details").open = false;
          form.faults(page('<div data-field="row"><p data-part="read">Read as 2 numbers</p></div>')); return [wrong, says(), box.querySelector("[data-part=read]").textContent];"""
        assert part("spec-form", FORM + body) == [
            ["true", "u-row-help u-row-read u-row-error", "u-row-error", "alert", True],
            [None, "u-row-help u-row-read", None, None, False],
            "Read as 2 numbers",
        ]


ASKING = """
  box = made("");
  let shown = { step: 2 };
  const player = { step: 2, playing: false };
  const asking = new module.Asking(box, player, { move: told("move"), seek: (step) => { log.push(["seek", step]); player.step = step; }, toggle: told("toggle"), load: (query, settle) => log.push(["load", query, typeof settle]), shown: () => shown });
  const go = (detail) => box.dispatchEvent(new CustomEvent("tilewise:go", { detail }));
"""
OVERTAKEN = "another state was asked for before this one came"


class TestAsking:
    def test_what_can_be_asked_for(self, part: Core):
        body = "go({ step: 4 }); go({ by: 7 }); go({ by: -1 }); go({ play: true }); go({ play: false }); go({ query: 'a=1', settle: () => {} }); return log;"
        assert part("asking", ASKING + body) == [
            ["seek", 4], ["move", 1], ["move", -1], ["toggle"], ["load", "a=1", "function"],
        ]  # fmt: skip

    def test_who_asks_is_told_once_it_is_shown(self, part: Core):
        body = "go({ step: 4, settle: told('settle') }); const waits = asking.awaited; asking.stepped({ step: 4 }, 'user'); asking.stepped({ step: 5 }, 'user'); return [waits, asking.awaited, log];"
        assert part("asking", ASKING + body) == [True, False, [["seek", 4], ["settle", None]]]

    def test_at_once_where_it_is_shown_already(self, part: Core):
        assert part("asking", ASKING + "go({ by: 1, settle: told('settle') }); return [log, asking.awaited];") == [
            [["move", 1], ["settle"]],
            False,
        ]

    def test_or_that_something_else_came_first(self, part: Core):
        body = "go({ step: 4, settle: told('first') }); go({ step: 5, settle: told('second') }); asking.stepped({ step: 1 }, 'user'); return log.filter(([what]) => what !== 'seek');"
        assert part("asking", ASKING + body) == [["first", OVERTAKEN], ["second", OVERTAKEN]]

    def test_whoever_listens_hears_of_each_step_and_can_ask_for_the_state(self, part: Core):
        body = """box.addEventListener("tilewise:step", ({ detail, bubbles }) => log.push([detail.snapshot.step, detail.why, bubbles]));
          asking.stepped({ step: 3 }, "play"); box.dispatchEvent(new CustomEvent("tilewise:ask", { detail: told("state") })); return log;"""
        assert part("asking", ASKING + body) == [[3, "play", True], ["state", {"step": 2}]]


STEPS = """
  let shown = { step: 1 };
  const waits = [];
  const run = { get: (step) => (step <= 2 ? { step } : undefined), want: (step) => new Promise((come, fail) => waits.push({ step, come: () => { come({ step }); return turn(); }, fail: (error) => { fail(error); return turn(); } })), once: (step, back) => { run.back = back; } };
  let now = run;
  const player = { step: 1, playing: false, held: false, pause: () => { player.playing = false; }, play: told("play"), seek: told("seek") };
  const steps = new module.Steps(player, { run: () => now, shown: () => shown, paint: ({ step }, why) => log.push(["paint", step, why]), stays: (one, fault) => { log.push(["stays", one.step, fault]); return !given; }, say: told("say") });
"""
STILL = "The server cannot be reached: the steps already loaded still work"


class TestSteps:
    def test_here_or_on_its_way(self, part: Core):
        body = "player.step = 2; steps.go('user'); player.step = 3; steps.go('play'); const held = player.held; await waits[0].come(); return [held, log];"
        assert part("steps", STEPS + body) == [True, [["paint", 2, "user"], ["paint", 3, "play"]]]

    def test_not_once_the_reader_or_the_run_has_gone_on(self, part: Core):
        body = "player.step = 3; steps.go('user'); player.step = 4; steps.go('user'); await waits[0].come(); now = {}; await waits[1].come(); return log;"
        assert part("steps", STEPS + body) == []

    @pytest.mark.parametrize(("playing", "goes_on"), [(False, ["seek", 3]), (True, ["play"])])
    def test_what_does_not_come_goes_on_once_the_server_is_back(self, part: Core, playing: bool, goes_on: list[Any]):
        body = f"player.playing = {str(playing).lower()}; player.step = 3; steps.go('user'); await waits[0].fail(new TypeError('no')); const at = player.step; run.back(); return [at, player.held, log];"
        told = part("steps", STEPS + body)
        assert told == [
            1,
            False,
            [
                ["stays", 1, "The server cannot be reached"],
                ["say", f"{STILL}; the rest comes by itself once it is back."],
                ["say", ""],
                goes_on,
            ],
        ]

    def test_not_where_the_reader_has_gone_on_or_somebody_was_told(self, part: Core):
        fails = "player.step = 3; steps.go('user'); await waits[0].fail(new TypeError('no'));"
        assert part("steps", STEPS + fails + "shown = { step: 2 }; run.back(); return log.length;") == 2
        assert part("steps", STEPS + fails + "return [log[1], run.back === undefined];", True) == [["say", f"{STILL}."], True]


SHARING = """
  box = made('<details><p data-part="sharing-link"><a></a></p></details><b></b>'); // no picture: what it would be of is not there
  const asked = [];
  let step = 1;
  const get = async (url) => { asked.push(url); if (given === "fails" && asked.length === 1) throw new TypeError("no"); return { ok: given !== "refused", page: page(`<div data-part="snippets"><textarea id="w-paste">step ${url.at(-1)}</textarea><button data-copy="w-paste" hidden></button></div>`) }; };
  const [details, code] = box.children;
  const sharing = new module.Sharing(details, code, { id: "u", at: (room, end = "") => `/${room}/x${end}?step=${step}`, say: told("say"), get });
  const snippets = () => [...box.querySelectorAll("[data-part=snippets] textarea")].map(({ id, value }) => [id, value]);
"""


class TestSharing:
    def test_it_is_asked_for_when_the_box_is_opened_and_once(self, part: Core):
        body = "await sharing.bring(); const shut = asked.length; details.open = true; await turn(20); await sharing.bring(); return [shut, asked, snippets(), box.querySelector('a').getAttribute('href'), code.src, box.querySelector('button').hidden];"
        assert part("sharing", SHARING + body) == [
            0,
            ["/share/x?step=1"],
            [["u-paste", "step 1"]],
            "/share/x?step=1",
            "/figures/x.qr.svg?step=1",
            False,
        ]

    def test_another_step_replaces_it(self, part: Core):
        body = "details.open = true; await turn(20); step = 2; await sharing.bring(); return snippets();"
        assert part("sharing", SHARING + body) == [["u-paste", "step 2"]]

    def test_what_failed_can_be_asked_for_again(self, part: Core):
        body = "details.open = true; await turn(20); const none = snippets(); await sharing.bring(); return [none, snippets().length];"
        assert part("sharing", SHARING + body, "fails") == [[], 1]

    def test_a_refusal_leaves_the_link(self, part: Core):
        body = "details.open = true; await turn(20); return [snippets(), box.querySelector('p').hidden];"
        assert part("sharing", SHARING + body, "refused") == [[], False]

    def test_copying_says_what_was_done(self, part: Core):
        body = """details.open = true; await turn(20); const real = navigator.clipboard; const clips = [];
          const clipboard = (one) => Object.defineProperty(navigator, "clipboard", { value: one, configurable: true });
          try {
            for (const one of [{ writeText: async (text) => { clips.push(text); } }, { writeText: async () => { throw new Error("no"); } }, undefined]) { clipboard(one); box.querySelector("button").click(); await turn(); }
          } finally { clipboard(real); }
          return [clips, log];"""
        selected = ["say", "Selected: press Ctrl+C to copy."]
        assert part("sharing", SHARING + body) == [["step 1"], [["say", "Copied."], selected, selected]]


PICTURES = """
  box = made("");
  const view = { draw: (root, { step }, frame) => log.push(["draw", step, frame.name]), plots: async () => { if (given) throw new Error("no Plotly"); return { draw: (root, { step }, frame, still) => log.push(["plot", step, frame.name, still]) }; } };
  const pictures = new module.Pictures(box, view);
  pictures.stage = { take: told("take"), show: ({ step }, how) => log.push(["stage", step, how]), plots: async () => { log.push(["stage plots"]); }, recolour: told("recolour") };
  const frame = { name: "one", charts: "charts" };
  const how = { why: "user", forward: true };
"""


class TestPictures:
    def test_at_once_and_in_plotly_once_that_has_come(self, part: Core):
        body = """pictures.take(frame, { step: 0 }); pictures.show({ step: 1 }, how); await turn(1); const before = log.splice(0);
          await pictures.late(); pictures.show({ step: 2 }, how); pictures.show({ step: 3 }, how); await turn(5);
          return [before, log.filter(([what]) => what !== "stage")];"""
        before, after = part("pictures", PICTURES + body)
        assert before == [["take", "charts", {"step": 0}], ["stage", 1, {"why": "user", "forward": True}], ["draw", 1, "one"]]
        assert after == [["stage plots"], ["plot", 1, "one", True], ["draw", 2, "one"], ["draw", 3, "one"], ["plot", 3, "one", False]]

    def test_without_plotly_the_rest_goes_on(self, part: Core):
        body = "pictures.take(frame, { step: 0 }); await pictures.late(); pictures.show({ step: 1 }, how); await turn(1); return log.slice(-1);"
        assert part("pictures", PICTURES + body, True) == [["draw", 1, "one"]]

    def test_other_colours(self, part: Core):
        body = "pictures.take(frame, { step: 4 }); await pictures.late(); log.length = 0; pictures.recolour(); return log;"
        assert part("pictures", PICTURES + body) == [["recolour"], ["plot", 4, "one", True]]


class TestLate:
    def test_it_waits_until_it_is_seen_and_nobody_has_its_hands_on_it(self, part: Core):
        body = """box = made("<button></button>"); box.style.marginTop = "9000px"; box.style.height = "20px";
          const come = new Promise((done) => { new module.Late(box, { seen: told("seen"), bring: () => { log.push(["bring", performance.now() - touched]); done(); }, quiet: 400 }); });
          let touched = 0; await turn(80); const unseen = log.length;
          box.firstChild.click(); touched = performance.now(); box.style.marginTop = ""; box.scrollIntoView();
          for (const kind of ["click", "keydown", "input"]) { touched = performance.now(); box.firstChild.dispatchEvent(new Event(kind, { bubbles: true })); await turn(20); }
          await come; return [unseen, log.map(([what]) => what), log[1][1] >= 400];"""
        assert part("pictures", body) == [0, ["seen", "bring"], True]


class TestParts:
    @pytest.mark.parametrize(
        ("attribute", "value", "now"),
        [
            ("id", "w-a", "u-a"), ("href", "#w-a", "#u-a"), ("href", "#w", "#u"), ("fill", "url(#w-a)", "url(#u-a)"), ("aria-describedby", "w-a w-b x-w-c", "u-a u-b x-w-c"),
            ("title", "w", "w"), ("title", "we", "we"), ("value", "w-a", "w-a"), ("class", "w-a", "w-a"),
        ],
    )  # fmt: skip
    def test_names_become_this_pages(self, part: Core, attribute: str, value: str, now: str):
        body = "const one = page('<p><i></i></p>').querySelector('p'); one.firstChild.setAttribute(given[0], given[1]); return module.renamed(one, 'w', 'u').firstChild.getAttribute(given[0]);"
        assert part("loader", body, [attribute, value]) == now

    def test_parts_are_replaced_and_the_focus_goes_on(self, part: Core):
        body = """box = made('<div id="u"><p data-swap="a"><button data-again="x">old</button><i data-swap="inner"></i></p><p data-swap="b">stays</p></div>');
          const root = box.firstChild; root.querySelector("button").focus();
          module.swap(root, page('<div id="w"><p data-swap="a"><button id="w-x" data-again="x">new</button></p></div>').querySelector("div"));
          const active = document.activeElement; return [active.textContent, active.id, root.textContent];"""
        assert part("loader", body) == ["new", "u-x", "newstays"]
