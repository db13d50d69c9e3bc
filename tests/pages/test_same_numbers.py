"""What script shows at a step is what the server's own page shows there: each number, sentence, cell and highlight."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.machines import MACHINES
from app.specs import query
from app.stories import BY_NAME
from tests.pages.driver import Widget

SMALL = "q=1,0;0,1&k=1,2;2,1;3,0;2,1&v=2,0;0,2;0,2;1,1&scale=1"
WANTED = {
    "tiled-attention": ("default", "causal", "skipped", "ragged", "overflow", "nobody"),
    "division-order": ("default", "five", "short"),
    "online-softmax": ("default", "values", "masked-block"),
}
SPECS = {
    f"{machine} {one.name}": (machine, query(MACHINES[machine], one.spec))
    for machine, names in WANTED.items()
    for one in BY_NAME[machine].presets
    if one.name in names
}
SPECS |= {
    "fa1": ("tiled-attention", f"{SMALL}&algorithm=fa1&block_q=1"),
    "from the right": ("tiled-attention", f"{SMALL}&order=right"),
    "beside fa1": ("tiled-attention", f"{SMALL}&beside=other"),
    "beside fa2": ("tiled-attention", f"{SMALL}&algorithm=fa1&beside=other"),
    "beside standard": ("tiled-attention", f"{SMALL}&causal=top-left&beside=standard"),
    "18 by 18": ("tiled-attention", "seed=3&n_q=18&n_k=18&d=3&d_v=2&block_q=9&block_k=6"),
}
# Both pages are read by one function; the server's is fetched and parsed, so it is as it was sent.
DIFFERENCES = """
async (root, asked) => {
  const read = (root) => {
    const all = (selector, take) => [...root.querySelectorAll(selector)].map(take);
    const place = ({ row, col }) => `${row ?? ""},${col ?? ""}`;
    const words = (root) => {
      const found = [], walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const said = walk.currentNode.data.trim();
        if (said && !walk.currentNode.parentElement.closest("script, textarea, [data-role='none'], [data-part='live'], [data-part='readout'], [data-part='shared']")) found.push(said);
      }
      return found;
    };
    const number = (given) => (given === "" ? "" : Number(given.replace(/^(-?)inf$/, "$1Infinity")));
    return {
      numbers: all("data[data-value]", (one) => `${one.dataset.value} ${place(one.dataset)}: ${number(one.value)} ${one.textContent.trim()}`),
      texts: all("[data-text]", (one) => `${one.dataset.text}: ${one.hidden ? "" : one.textContent.trim()}`),
      marks: all("[data-mark]", (one) => `${one.dataset.mark}: ${one.dataset.on}`),
      cells: all("[data-state]", (one) => `${place(one.dataset)}: ${one.dataset.state} ${one.querySelector(".word")?.textContent ?? ""}`),
      lit: all("[data-cell][data-lit], tr[data-lit]", (one) => `${one.dataset.cell} ${place(one.dataset)}`),
      ends: all("[aria-disabled]", (one) => one.dataset.action),
      goes: all("button[name=step]", (one) => `${one.dataset.action}: ${one.value}`),
      position: all('[data-part="position"]', (one) => one.textContent),
      words: words(root),
      dense: all(".stage", (one) => one.className),
      links: all('[data-action="share"], [data-action="projector"]', (one) => one.getAttribute("href")),
    };
  };
  const answer = await fetch(asked === null ? location.href : `${location.pathname}?${asked}&step=${root.querySelector('input[name="step"]').value}`);
  const there = read(new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-widget]"));
  const here = read(root);
  const wrong = Object.keys(here).flatMap((kind) => {
    if (here[kind].length !== there[kind].length) return [`${kind}: ${here[kind].length} here, ${there[kind].length} on the server: ${here[kind]} / ${there[kind]}`];
    return here[kind].flatMap((one, i) => (one === there[kind][i] ? [] : [`${kind}: ${one} here, ${there[kind][i]} on the server`]));
  });
  return { ok: answer.ok, count: here.numbers.length, wrong };
}
"""  # fmt: skip


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.usefixtures("without_plotly")
def test_at_every_step_script_and_server_show_the_same(page: Page, name: str):
    machine, asked = SPECS[name]
    page.emulate_media(reduced_motion="reduce")  # numbers in a picture count as it moves
    widget = Widget(page)
    widget.open(asked, f"/widgets/{machine}")
    steps = int(widget.field("step").get_attribute("max") or "")

    def same() -> None:
        found: dict[str, Any] = widget.root.evaluate(DIFFERENCES, asked)
        assert found["ok"]
        assert found["count"] > 5
        assert found["wrong"] == [], f"at step {step}"

    step = 0
    same()
    for step in range(1, steps + 1):
        widget.press("next")
        widget.at(step, steps)
        same()
    for step in (steps // 2, 0):
        widget.slide("step", step)
        widget.at(step, steps)
        same()
    if steps > 1:
        step = 1
        widget.press("next")
        same()
    expect(widget.root).not_to_have_attribute("aria-busy", "true")


CHANGES = {
    "ragged": ("tiled-attention", lambda widget: widget.root.get_by_role("link", name="Ragged tails").click()),
    "32 by 32": ("tiled-attention", lambda widget: widget.root.get_by_role("link", name="32 by 32").click()),
    "causal": ("tiled-attention", lambda widget: widget.root.get_by_role("link", name="Causal mask on").click()),
    "wider values": ("tiled-attention", lambda widget: widget.fill("v", "1,2,3;4,5,6;7,8,9;0,1,0")),
    "fa1": (
        "tiled-attention",
        lambda widget: (widget.root.locator("details.own summary").click(), widget.field("algorithm").select_option("fa1")),
    ),
    "beside": ("tiled-attention", lambda widget: widget.field("beside").select_option("standard")),
    "five scores": ("division-order", lambda widget: widget.root.get_by_role("link", name="Five scores").click()),
    "vectors": ("online-softmax", lambda widget: widget.root.get_by_role("link", name="Vector values").click()),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.usefixtures("without_plotly")
def test_after_a_change_script_and_server_show_the_same(page: Page, name: str):
    """What a switch, a preset or a field changes is changed all over the page, not only in its numbers."""
    machine, change = CHANGES[name]
    widget = Widget(page)
    widget.open("step=1", f"/widgets/{machine}")
    before = page.url
    change(widget)
    page.wait_for_function("(before) => location.href !== before", arg=before)
    expect(widget.root).not_to_have_attribute("aria-busy", "true")
    assert widget.root.evaluate(DIFFERENCES, None)["wrong"] == []
