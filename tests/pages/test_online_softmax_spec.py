"""Changing what is run: the amount added, the format, own scores, presets; and what is said when it cannot be."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from app.specs import text
from app.stories import BY_NAME
from tests.conftest import Watch
from tests.pages.driver import DEFAULT, Api, Widget


@pytest.fixture
def each_position_asked_for(page: Page) -> None:
    """The states at all positions of the slider do not come with one question."""
    page.route("**/sweeps/**", lambda route: route.fulfill(json={}))


class TestAddedToEveryScore:
    def test_at_79_the_old_way_still_works(self, widget: Widget, api: Api):
        widget.open("step=8")
        widget.slide("offset", 79)
        expect(widget.value("m")).to_have_text("88")
        widget.agrees(api.run(f"{DEFAULT}&offset=79")[8])
        expect(widget.mark("failed")).to_have_attribute("data-on", "no")
        expect(widget.words("words.naive")).to_contain_text("works")
        expect(widget.part("first-bad").locator("li:visible")).to_have_count(0)
        expect(widget.part("offset")).to_have_text("+79")

    def test_at_80_it_fails_and_the_online_way_does_not(self, widget: Widget, api: Api):
        widget.open("step=8&offset=79")
        kept = widget.value("l").get_attribute("value"), widget.value("l").inner_text()
        widget.field("offset").focus()
        widget.keyboard.press("ArrowRight")
        expect(widget.value("m")).to_have_text("89")
        shot = api.run(f"{DEFAULT}&offset=80")[8]
        widget.agrees(shot)
        expect(widget.mark("failed")).to_have_attribute("data-on", "yes")
        expect(widget.words("words.naive")).to_contain_text("failed")
        first, second = widget.part("first-bad").locator("li").all_inner_texts()
        assert first == "exp(89) is past the largest float32"
        assert second == "∞ / ∞ is NaN"
        assert [widget.value("naive.shares", row).inner_text() for row in range(8)] == ["0", "0", "0", "0", "0", "NaN", "0", "0"]
        assert (float(widget.value("l").get_attribute("value") or "nan"), widget.value("l").inner_text()) == (
            float(kept[0] or "nan"),
            kept[1],
        )
        assert [widget.value("shares", row).inner_text() for row in (5, 6)] == [
            widget.value("reference.shares", row).inner_text() for row in (5, 6)
        ]

    def test_it_is_in_the_address_at_once(self, page: Page, widget: Widget, api: Api, site: str):
        widget.open("step=8")
        widget.slide("offset", 80)
        page.wait_for_function(
            "(address) => location.href === address", arg=f"{site}/{api.run(f'{DEFAULT}&offset=80')[8]['links']['page']}"
        )
        widget.slide("offset", 0)
        page.wait_for_function("(address) => location.href === address", arg=f"{site}/{api.run(DEFAULT)[8]['links']['page']}")

    def test_the_step_stays_and_goes_on_from_there(self, widget: Widget, api: Api):
        widget.open("step=5")
        widget.slide("offset", 80)
        expect(widget.value("m")).to_have_text("87")
        run = api.run(f"{DEFAULT}&offset=80")
        widget.agrees(run[5])
        widget.press("next")
        widget.agrees(run[6])
        expect(widget.words("words.naive")).to_contain_text("failed already")

    def test_the_last_of_many_moves_counts(self, widget: Widget, api: Api):
        widget.open("step=8")
        widget.field("offset").evaluate(
            """(range) => { for (let value = 1; value <= 80; value++) {
                 range.value = value; range.dispatchEvent(new Event("input", { bubbles: true })); } }"""
        )
        expect(widget.value("m")).to_have_text("89")
        widget.agrees(api.run(f"{DEFAULT}&offset=80")[8])

    @pytest.mark.usefixtures("each_position_asked_for")
    def test_an_answer_that_is_overtaken_is_dropped(self, page: Page, widget: Widget, api: Api):
        held: list[Route] = []
        page.route(re.compile("offset=50&"), lambda route: held.append(route) or None)
        widget.open("step=8")
        with page.expect_request(re.compile("offset=50&")):
            widget.slide("offset", 50)
        widget.slide("offset", 80)
        expect(widget.value("m")).to_have_text("89")
        with page.expect_response(re.compile("offset=50&")) as late:
            held[0].continue_()
        late.value.finished()
        expect(widget.root).not_to_have_attribute("aria-busy", "true")
        widget.agrees(api.run(f"{DEFAULT}&offset=80")[8])

    @pytest.mark.usefixtures("each_position_asked_for")
    def test_a_slow_server_is_asked_for_a_few_at_once_and_then_only_the_latest(self, page: Page, widget: Widget, api: Api):
        held: list[Route] = []
        asked: list[str] = []

        def hold(route: Route) -> None:
            asked.extend(re.findall("offset=([0-9]+)", route.request.url))
            if len(asked) <= 3:
                held.append(route)
            else:
                route.continue_()

        page.route(re.compile("offset=[1-9]"), hold)
        widget.open("step=8")
        for amount in (10, 20, 30, 40, 50, 60):
            widget.slide("offset", amount)
            page.wait_for_function("() => new Promise((done) => setTimeout(() => done(true)))")  # each move is read in a task of its own
        assert asked == ["10", "20", "30"]
        for route in held:
            route.continue_()
        expect(widget.value("m")).to_have_text("69")
        widget.agrees(api.run(f"{DEFAULT}&offset=60")[8])
        assert asked == ["10", "20", "30", "60"]

    def test_a_server_that_hangs_is_given_up_in_words(self, page: Page, widget: Widget, api: Api):
        page.add_init_script("const wait = AbortSignal.timeout; AbortSignal.timeout = (ms) => wait.call(AbortSignal, ms / 50);")
        page.route(re.compile("offset=50&"), lambda route: None)
        widget.open("step=8")
        widget.slide("offset", 50)
        expect(widget.part("shared")).to_contain_text("still steps")
        expect(widget.part("shared")).to_contain_text("server")
        widget.agrees(api.run(DEFAULT)[8])

    def test_a_step_made_while_an_answer_is_on_its_way_is_kept(self, page: Page, widget: Widget, api: Api):
        held: list[Route] = []
        page.route(re.compile("offset=5&"), lambda route: held.append(route) or None)
        widget.open("step=5")
        with page.expect_request(re.compile("offset=5&")):
            widget.slide("offset", 5)
        widget.press("next")
        widget.at(6)
        held[0].continue_()
        expect(widget.value("m")).to_have_text("14")
        widget.agrees(api.run(f"{DEFAULT}&offset=5")[6])

    def test_moved_shares_are_said(self, widget: Widget, api: Api):
        widget.open("step=8&format=bfloat16")
        expect(widget.words("words.moved")).to_be_hidden()
        query = "scores=6.25,5.5,7&format=bfloat16"
        widget.open(f"{query}&step=3")
        widget.slide("offset", 100)
        expect(widget.words("words.moved")).to_contain_text("bfloat16 stores")
        widget.agrees(api.run(f"{query}&offset=100")[3])
        widget.slide("offset", 0)
        expect(widget.words("words.moved")).to_be_hidden()

    @pytest.mark.parametrize(("amount", "shown"), [("-5", "−5"), ("0.5", "+0.500"), ("200", "+200")])
    def test_an_amount_from_a_link_is_shown_with_one_sign(self, widget: Widget, api: Api, amount: str, shown: str):
        widget.open(f"offset={amount}&step=2")
        widget.agrees(api.run(f"{DEFAULT}&offset={amount}")[2])
        expect(widget.part("offset")).to_have_text(shown)
        assert float(widget.field("offset").input_value()) == float(amount)


class TestFormat:
    def test_every_format_can_be_picked(self, widget: Widget, api: Api):
        widget.open("step=8")
        picker = widget.field("format")
        assert set(picker.locator("option").all_inner_texts()) >= {
            "float16",
            "bfloat16",
            "float32",
            "float64",
            "float8_e4m3fn",
            "float8_e5m2",
        }
        for name in ("float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2", "float32"):
            picker.select_option(name)
            expect(widget.root.locator('[data-swap="exps"] [data-role="limit-name"]')).to_contain_text(f"largest {name},")
            widget.agrees(api.run(f"{DEFAULT}&format={name}")[8])

    @pytest.mark.parametrize(
        ("name", "works", "fails", "first"),
        [
            ("float16", 1, 2, "23264 + 59872 is past the largest float16"),
            ("bfloat16", 79, 80, "exp(89) is past the largest bfloat16"),
            ("float64", 700, 701, "exp(710) is past the largest float64"),
            ("float8_e5m2", 2, 3, "exp(12) is past the largest float8_e5m2"),
        ],
    )
    def test_it_moves_the_point_of_failure(self, widget: Widget, name: str, works: int, fails: int, first: str):
        widget.open(f"format={name}&offset={works}&step=8")
        expect(widget.mark("failed")).to_have_attribute("data-on", "no")
        widget.open(f"format={name}&offset={fails}&step=8")
        expect(widget.mark("failed")).to_have_attribute("data-on", "yes")
        expect(widget.part("first-bad").locator("li").first).to_have_text(first)

    def test_each_face_of_failure(self, widget: Widget):
        """One NaN among zeros, all NaN, every share a quiet 0, NaN at once."""
        faces = {
            f"{DEFAULT}&offset=80&step=8": "one share is NaN",
            f"{DEFAULT}&offset=90&step=8": "every share is NaN",
            "scores=10.5,10.5&format=float16&step=2": "every share is 0",
            f"{DEFAULT}&format=float8_e4m3fn&step=8": "every share is NaN",
        }
        for query, said in faces.items():
            widget.open(query)
            expect(widget.words("words.naive")).to_contain_text("It failed")
            expect(widget.words("words.naive")).to_contain_text(said)
        expect(widget.part("first-bad").locator("li").first).to_contain_text("no infinity")

    def test_sums_in_a_format_of_their_own(self, widget: Widget, api: Api):
        widget.open(f"{DEFAULT}&format=float16&step=8")
        widget.root.locator("details.own summary").click()
        widget.field("accumulate").select_option("float32")
        widget.page.wait_for_function("() => location.search.includes('accumulate=float32')")
        widget.agrees(api.run(f"{DEFAULT}&format=float16&accumulate=float32")[8])
        widget.field("accumulate").select_option("")
        widget.page.wait_for_function("() => !location.search.includes('accumulate')")
        widget.agrees(api.run(f"{DEFAULT}&format=float16")[8])


class TestOwnScores:
    @pytest.mark.parametrize(
        ("typed", "scores"),
        [
            ("1, 3, 2", "1,3,2"),
            ("1 3 2 5", "1,3,2,5"),
            ("1\n3\n2\n", "1,3,2"),
            ("-inf, 1, -inf 2.5", "-inf,1,-inf,2.5"),
            ("−∞ −1 1e3", "-inf,-1,1000"),
        ],
    )
    def test_every_way_to_write_them(self, page: Page, widget: Widget, api: Api, site: str, typed: str, scores: str):
        widget.open("step=8")
        widget.fill("scores", typed)
        run = api.run(f"scores={scores}")
        page.wait_for_function("(address) => location.href === address", arg=f"{site}/{run[0]['links']['page']}")
        for shot in run[1:]:
            widget.press("next")
            widget.agrees(shot)
        expect(widget.field("scores")).to_have_value(typed)
        expect(widget.root.locator('[data-part="table"] tbody tr')).to_have_count(len(scores.split(",")))

    def test_typed_key_by_key(self, page: Page, widget: Widget, api: Api):
        widget.open("step=8")
        widget.root.locator("details.own summary").click()
        widget.field("scores").focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("4,2,8")
        widget.agrees(api.run("scores=4,2,8")[0])

    def test_pasted(self, page: Page, widget: Widget, api: Api):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        widget.open("step=8")
        widget.root.locator("details.own summary").click()
        page.evaluate("() => navigator.clipboard.writeText('1.5\\r\\n-inf\\r\\n2.5\\r\\n')")
        widget.field("scores").focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.press("ControlOrMeta+v")
        widget.agrees(api.run("scores=1.5,-inf,2.5")[0])

    def test_values_make_acc_and_output(self, widget: Widget, api: Api):
        widget.open("scores=1,3,2,5,4")
        assert widget.value("acc").count() == 0
        widget.fill("values", "10, 20, 30, 40, 50")
        expect(widget.value("acc")).to_have_text("0")
        for shot in api.run("scores=1,3,2,5,4&values=10,20,30,40,50")[1:]:
            widget.press("next")
            widget.agrees(shot)
        widget.fill("values", "")
        expect(widget.value("acc")).to_have_count(0)
        widget.agrees(api.run("scores=1,3,2,5,4")[0])

    def test_values_may_be_vectors(self, widget: Widget, api: Api):
        widget.open("scores=1,3,2")
        widget.fill("values", "2,0;0,2;1,1")
        expect(widget.value("acc")).to_have_count(2)
        for shot in api.run("scores=1,3,2&values=2,0;0,2;1,1")[1:]:
            widget.press("next")
            widget.agrees(shot)

    def test_block_size(self, widget: Widget, api: Api):
        widget.open("step=8")
        widget.fill("block", "3")
        for shot in api.run(f"{DEFAULT}&block=3"):
            widget.agrees(shot)
            widget.press("next") if not shot["done"] else None
        widget.fill("block", "1")
        widget.at(0, 8)

    def test_enter_in_a_one_line_field_does_not_wait(self, widget: Widget, api: Api):
        widget.open("step=8")
        widget.page.clock.install()
        widget.fill("block", "4")
        widget.page.clock.pause_at(widget.page.evaluate("() => Date.now()") + 100)
        widget.field("block").press("Enter")
        widget.agrees(api.run(f"{DEFAULT}&block=4")[0])

    def test_a_run_of_64_with_vectors(self, page: Page, widget: Widget, api: Api):
        """More JSON than a page brings at once: the rest is fetched as the reader goes."""
        scores = ",".join(str((7 * i) % 13 / 2) for i in range(64))
        values = ";".join(",".join(str((i + j) % 5) for j in range(8)) for i in range(64))
        query = f"scores={scores}&values={values}"
        widget.open(query)
        run = api.run(query)
        for step in (1, 15, 30, 31, 47, 62, 63, 64, 63, 40, 0):
            widget.slide("step", step)
            widget.agrees(run[step])


class TestBadInput:
    @pytest.fixture(autouse=True)
    def refused(self, watch: Watch):
        watch.expect("status of 422")

    def test_the_words_are_beside_the_field_and_the_last_good_state_stays(self, page: Page, widget: Widget, api: Api, site: str):
        run = api.run(DEFAULT)
        widget.open(f"{DEFAULT}&format=float32&step=5")
        address = page.url
        widget.fill("scores", "1, two, 3")
        error, field = widget.error("scores"), widget.field("scores")
        expect(error).to_be_visible()
        expect(error).to_contain_text("'two' is not a number")
        expect(field).to_have_attribute("aria-invalid", "true")
        assert error.get_attribute("id") in (field.get_attribute("aria-describedby") or "").split()
        expect(field).to_have_value("1, two, 3")
        widget.agrees(run[5])
        assert page.url == address
        widget.press("next")
        widget.agrees(run[6])
        widget.slide("step", 2)
        widget.agrees(run[2])
        expect(error).to_be_visible()
        field.fill("1, 2, 3")
        expect(error).to_have_count(0)
        assert field.get_attribute("aria-invalid") is None
        assert "error" not in (field.get_attribute("aria-describedby") or "")
        widget.agrees(api.run("scores=1,2,3")[0])

    @pytest.mark.parametrize(
        ("field", "typed", "said"),
        [
            ("scores", ",".join(["1"] * 65), r"65.*64"),
            ("scores", "", r"[Ss]cores is empty"),
            ("scores", "1,,2", r"empty"),
            ("scores", "1e999", r"1e999"),
            ("values", "1,2,3", r"3 rows.*8 numbers"),
            ("values", "1;2,3;4", r"rows of values"),
            ("block", "0", r"from 1 to"),
            ("block", "two", r"from 1 to"),
        ],
    )
    def test_each_fault_is_said_beside_its_field(self, widget: Widget, api: Api, field: str, typed: str, said: str):
        widget.open("step=4")
        widget.fill(field, typed)
        expect(widget.error(field)).to_have_text(re.compile(said, re.DOTALL))
        expect(widget.root.locator('[data-part="error"]')).to_have_count(1)
        expect(widget.field(field)).to_have_attribute("aria-invalid", "true")
        widget.agrees(api.run(DEFAULT)[4])

    def test_two_faults_are_said_at_once(self, widget: Widget):
        widget.open()
        widget.fill("block", "x")
        expect(widget.error("block")).to_be_visible()
        widget.fill("scores", "y")
        expect(widget.error("scores")).to_be_visible()
        expect(widget.error("block")).to_be_visible()
        widget.fill("scores", "1,2")
        expect(widget.error("scores")).to_have_count(0)
        expect(widget.error("block")).to_be_visible()

    def test_the_words_are_announced(self, widget: Widget):
        widget.open()
        widget.fill("scores", "x")
        expect(widget.error("scores")).to_have_attribute("role", "alert")
        expect(widget.field("scores")).to_be_focused()

    def test_a_preset_clears_the_fault(self, page: Page, widget: Widget, api: Api):
        widget.open()
        widget.fill("scores", "x")
        expect(widget.error("scores")).to_be_visible()
        page.get_by_role("link", name="Rising").click()
        expect(widget.error("scores")).to_have_count(0)
        expect(widget.field("scores")).to_have_value("1,2,3,4,5,6")
        widget.agrees(api.run("scores=1,2,3,4,5,6")[0])

    def test_a_link_with_faults_opens_with_the_words_and_works(self, page: Page, widget: Widget, api: Api):
        answer = widget.open("scores=1,x&block=0&format=float16")
        assert answer.status == 422
        expect(widget.error("scores")).to_contain_text("'x'")
        expect(widget.error("block")).to_contain_text("'0'")
        expect(widget.field("scores")).to_have_value("1,x")
        expect(widget.field("block")).to_have_value("0")
        expect(widget.field("format")).to_have_value("float16")
        widget.agrees(api.run(DEFAULT)[0])
        widget.press("next")
        widget.agrees(api.run(DEFAULT)[1])

    def test_a_bad_step_in_a_link_is_said(self, page: Page, widget: Widget):
        assert widget.open("step=abc").status == 422
        expect(page.locator('[data-part="error"]')).to_be_visible()
        expect(page.locator('[data-part="error"]')).to_contain_text("abc")

    def test_a_reload_after_bad_input_shows_no_text_that_is_not_the_state(self, page: Page, widget: Widget, api: Api):
        widget.open(f"{DEFAULT}&format=float32&step=3")
        widget.fill("scores", "1, two, 3")
        expect(widget.error("scores")).to_be_visible()
        page.reload()
        widget.ready()
        widget.agrees(api.run(DEFAULT)[3])
        expect(widget.field("scores")).to_have_value("6,5,7,6,7,9,8,6")


def test_a_step_past_the_end_is_a_page_that_says_how_many_there_are(page: Page, widget: Widget, watch: Watch):
    watch.expect("status of 404")
    assert widget.open("step=9", script=False).status == 404
    expect(page.locator('[data-part="error"]')).to_contain_text("steps 0 to 8")


def test_the_slider_moved_right_after_typing_a_shorter_list(page: Page, widget: Widget, api: Api):
    """The typed text is not read yet, and the step shown is past its end."""
    widget.open("step=8")
    widget.fill("scores", "1,2,3")
    widget.slide("offset", 7)
    page.wait_for_function("() => location.search.includes('scores=1,2,3&') && location.search.includes('offset=7')")
    run = api.run("scores=1,2,3&offset=7")
    step = int(widget.field("step").input_value())
    widget.agrees(run[step])


def test_presets(page: Page, widget: Widget, api: Api, site: str):
    widget.open("step=8")
    presets = BY_NAME["online-softmax"].presets
    links = widget.root.locator('[data-action="preset"]')
    expect(links).to_have_text([one.title for one in presets])
    for one in presets[1:] + presets[:1]:
        query = "&".join(f"{name}={text(value)}" for name, value in one.given.items())
        run = api.run(query)
        links.get_by_text(one.title, exact=True).click()
        page.wait_for_function("(address) => location.href === address", arg=f"{site}/{run[0]['links']['page']}")
        widget.agrees(run[0])
        for name, value in {"values": "", "format": "float32", "block": "1", "offset": "0"}.items():
            expect(widget.field(name)).to_have_value(text(one.given[name]) if name in one.given else value)
        expect(widget.field("scores")).to_have_value(text(one.given["scores"]))
        widget.slide("step", run[-1]["step"])
        widget.agrees(run[-1])
        expect(links.get_by_text(one.title, exact=True).locator("xpath=../span")).to_have_text(one.look_for)


def test_a_preset_chosen_while_playing_pauses(page: Page, widget: Widget):
    widget.open("step=1")
    widget.press("play")
    page.get_by_role("link", name="Falling").click()
    expect(widget.action("play")).to_have_text("Play")
    widget.at(0, 6)


class TestServerGone:
    @pytest.fixture(autouse=True)
    def gone(self, watch: Watch):
        watch.expect("ERR_INTERNET_DISCONNECTED")

    def test_the_loaded_run_steps_and_a_changed_spec_is_refused_in_words(self, page: Page, widget: Widget, api: Api):
        widget.open("step=3")
        widget.plotted()
        page.context.set_offline(True)
        run = api.run(DEFAULT)
        widget.press("next")
        widget.agrees(run[4])
        address = page.url
        widget.slide("offset", 50)
        expect(widget.part("shared")).to_contain_text("server cannot be reached")
        expect(widget.root).not_to_have_attribute("aria-busy", "true")
        widget.agrees(run[4])
        assert page.url == address
        widget.slide("step", 8)
        widget.agrees(run[8])
        page.context.set_offline(False)
        widget.slide("offset", 80)
        expect(widget.mark("failed")).to_have_attribute("data-on", "yes")
        widget.agrees(api.run(f"{DEFAULT}&offset=80")[8])

    def test_a_step_that_is_not_loaded_is_refused_in_plain_words(self, page: Page, widget: Widget, api: Api):
        query = "scores=" + ",".join(str(i % 7) for i in range(64))
        widget.open(query)
        widget.plotted()
        page.context.set_offline(True)
        widget.action("next").focus()
        widget.keyboard.press("End")
        expect(widget.part("shared")).to_contain_text("already loaded still work")
        widget.agrees(api.run(query)[0])
        assert "fetch" not in widget.part("shared").inner_text().lower()
        expect(widget.part("shared")).to_contain_text("server cannot be reached")
        page.context.set_offline(False)
        widget.keyboard.press("End")
        widget.agrees(api.run(query)[64])


def test_a_server_error_is_said(page: Page, widget: Widget, api: Api, watch: Watch):
    watch.expect("status of 500")
    widget.open("step=3")
    page.route(re.compile("offset=50&"), lambda route: route.fulfill(status=500, body="no"))
    widget.slide("offset", 50)
    expect(widget.part("shared")).to_contain_text("server answered 500")
    widget.agrees(api.run(DEFAULT)[3])
