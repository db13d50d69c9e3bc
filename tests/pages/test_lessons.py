"""Lessons in a browser: tracks, questions in place, widgets when near, progress; and all of it without script."""

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.pages.driver import clean

LESSON = "/lessons/online-softmax"
PREDICT = "first-factor"  # number, with a widget that stands before the step


def question(page: Page, name: str = PREDICT) -> Locator:
    return page.locator(f"section[data-quiz='{name}']")


def open_lesson(page: Page, track: str = "plain") -> None:
    page.goto(f"{LESSON}?track={track}")
    expect(page.locator("h1")).to_be_visible()


def near(page: Page, what: Locator) -> None:
    what.evaluate("(element) => element.scrollIntoView({ block: 'center', behavior: 'instant' })")


def test_predict_then_reveal_by_mouse(page: Page):
    open_lesson(page)
    asked = question(page)
    near(page, asked)
    root = asked.locator("[data-widget][data-ready]")
    expect(root).to_be_visible()
    position = root.locator('[data-part="position"]')
    expect(position).to_have_text("1 of 5")
    expect(root.locator('[data-action="next"]')).to_be_hidden()
    asked.get_by_label("Your answer").fill("e^2")
    asked.get_by_role("button", name="Check").click()
    expect(asked.locator(".feedback.wrong")).to_contain_text("inverse")
    expect(position).to_have_text("1 of 5")
    asked.get_by_label("Your answer").fill("0,135")
    asked.get_by_role("button", name="Check").click()
    expect(asked.locator(".feedback.right")).to_be_visible()
    expect(position).to_have_text("2 of 5")
    expect(root.locator('[data-action="next"]')).to_be_visible()
    assert page.url.endswith("?track=plain"), "a guest never changes the address"
    expect(page.locator('.lesson-head [data-part="progress"]')).to_contain_text("1 of")
    page.reload()
    expect(question(page).locator("legend .word")).to_have_attribute("data-done", " · answered ✓")


def test_a_question_by_keyboard(page: Page):
    open_lesson(page)
    asked = question(page)
    near(page, asked)
    field = asked.get_by_label("Your answer")
    field.focus()
    page.keyboard.type("exp(-2)")
    page.keyboard.press("Enter")
    feedback = asked.locator('[data-part="feedback"]')
    expect(feedback.locator(".right")).to_be_visible()
    expect(feedback).to_have_attribute("role", "status")
    expect(field).to_be_focused()
    page.keyboard.press("Tab")
    expect(asked.get_by_role("button", name="Check")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(feedback.locator(".shown")).to_be_visible()
    expect(asked.get_by_role("button", name="Show me")).to_be_focused()


def test_widgets_come_when_near_and_each_is_itself(page: Page):
    embeds: list[str] = []
    page.on("request", lambda request: embeds.append(request.url) if "/embed/" in request.url else None)
    open_lesson(page)
    places = page.locator("figure[data-live]")
    assert places.count() > 2
    page.wait_for_load_state("networkidle")
    early = len(embeds)
    assert early < places.count()
    for place in (places.nth(0), places.nth(1)):
        near(page, place)
        expect(place.locator("[data-widget][data-ready]")).to_be_visible()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    free = page.locator("figure[data-live]:not([data-quiz])")
    near(page, free.first)
    root = free.first.locator("[data-widget][data-ready]")
    before = [one.inner_text() for one in page.locator('[data-part="position"]').all()]
    back = root.locator('[data-action="back"], [data-action="next"]').and_(page.locator(":not([aria-disabled])")).first
    back.click()
    after = [one.inner_text() for one in page.locator('[data-part="position"]').all()]
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1
    assert page.url.endswith("?track=plain")


def test_a_widget_that_cannot_come_leaves_its_picture(page: Page, watch):
    watch.expect("net::ERR_FAILED")
    page.route("**/embed/**", lambda route: route.abort())
    open_lesson(page)
    place = page.locator("figure[data-live]:not([data-quiz])").first
    with page.expect_event("console", lambda message: "ERR_FAILED" in message.text):
        near(page, place)
    expect(place.locator("img")).to_be_visible()
    expect(place.get_by_role("link", name="Step it yourself")).to_be_visible()


def test_the_track_is_remembered(page: Page):
    open_lesson(page, "deep")
    page.goto(LESSON)
    expect(page.locator("[data-lesson]")).to_have_attribute("data-track", "deep")
    page.get_by_role("navigation", name="Track").get_by_role("link", name="Plain").click()
    page.wait_for_url("**track=plain*", wait_until="load")  # its script has remembered it
    page.goto("/lessons/")
    assert str(page.locator("[data-course-lesson] h3 a").first.get_attribute("href")) is not None
    page.goto(LESSON)
    expect(page.locator("[data-lesson]")).to_have_attribute("data-track", "plain")


def test_all_works_where_storage_throws(page: Page):
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('none here') } })")
    open_lesson(page)
    asked = question(page)
    near(page, asked)
    asked.get_by_label("Your answer").fill("0.135")
    asked.get_by_role("button", name="Check").click()
    expect(asked.locator(".feedback.right")).to_be_visible()


def test_without_script_the_server_judges(new_context, site: str):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(LESSON)
    place = page.locator("figure[data-live]:not([data-quiz])").first
    expect(place.locator("img")).to_be_visible()
    expect(place.get_by_role("link", name="Step it yourself")).to_be_visible()
    asked = question(page)
    asked.get_by_label("Your answer").fill("1/e^2")
    asked.get_by_role("button", name="Check").click()
    expect(question(page).locator(".feedback.right")).to_be_visible()
    expect(question(page)).to_contain_text("Step 2 of 5")
    page.get_by_role("link", name="Back to the lesson").click()
    expect(page).to_have_url(f"{site}{LESSON}#quiz-{PREDICT}")


@pytest.mark.parametrize("width", [1280, 320])
def test_axe_and_no_sideways_scroll(page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 800})
    for path in (
        f"{LESSON}?track=deep",
        "/lessons/output-accumulation",
        "/lessons/",
        "/guide/own-lessons",
        f"{LESSON}/quizzes/{PREDICT}?answer=1",
    ):
        page.goto(path)
        for place in page.locator("figure[data-live]").all()[:3]:
            near(page, place)
            if "/quizzes/" not in path:
                expect(place.locator("[data-widget][data-ready]")).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        page.emulate_media(color_scheme="light")
        clean(page)
        page.emulate_media(color_scheme="dark")  # which changes colours and nothing else
        clean(page, "color-contrast")


def test_the_first_paint_waits_for_no_script(page: Page):
    page.route("**/js/**", lambda route: None)
    page.goto(LESSON, wait_until="commit")
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".lesson-body p").first).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("slug", ["online-softmax", "output-accumulation", "splitting-a-row"])
def test_a_live_widget_fits_the_paper(page: Page, slug: str):
    """718 pixels: a sheet of A4 less its margins."""
    page.set_viewport_size({"width": 718, "height": 1000})
    page.goto(f"/lessons/{slug}?track=plain")
    for place in page.locator("figure[data-live]").all()[:3]:
        near(page, place)
        expect(place.locator("[data-widget][data-ready]")).to_be_attached()
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 718


def test_printed_with_answers_and_figures_and_without_controls(browser: Browser, page: Page):
    open_lesson(page)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    answers = page.locator("details.answer")
    assert all(answers.nth(place).get_attribute("open") is not None for place in range(answers.count()))
    for hidden in (".contents", ".tracks", ".quiz-buttons", ".beside-lessons"):
        for one in page.locator(hidden).all():
            expect(one).to_be_hidden()
    expect(page.locator("figure.still img").first).to_be_visible()
