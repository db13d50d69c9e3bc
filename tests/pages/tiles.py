"""The tile page as a reader meets it, and what it must show of a snapshot."""

from typing import Any

from playwright.sync_api import Locator, expect

from app.numbers import show
from tests.pages.driver import Api, Widget, pick

PATH = "/widgets/tiled-attention"
DATA = "q=1,0;0,1&k=1,2;2,1;3,0;2,1&v=2,0;0,2;0,2;1,1"
DEFAULT = f"{DATA}&scale=1"
CAUSAL = f"{DEFAULT}&causal=bottom-right"
SKIPPED = "seed=2&n_q=6&n_k=6&d=2&d_v=2&causal=top-left"
RAGGED = "seed=5&n_q=5&n_k=7&d=3&d_v=2&block_q=2&block_k=3"
OVERFLOW = "q=256,1,0,0;&k=256,2,0,0;256,0,0,0&v=1;0&scale=0.5&format=float16"
LARGE = "seed=7&n_q=32&n_k=32&d=16&d_v=16&block_q=8&block_k=8&causal=top-left"
LARGEST = "seed=7&n_q=64&n_k=64&d=16&d_v=16&block_q=8&block_k=8"
PHASES = ["load", "score", "max", "rescale", "exponentiate", "accumulate", "consume"]
KEEPS = ("event.m_old", "m", "event.alpha", "l", "acc", "output")
SEE = """
(root) => {
  const texts = {};
  for (const one of root.querySelectorAll(".stage data[data-value]")) {
    const { value, row, col } = one.dataset;
    (texts[value] ??= {})[col === undefined ? row : `${row},${col}`] = one.checkVisibility({ visibilityProperty: true }) ? one.textContent : "";
  }
  const cells = (selector) => [...root.querySelectorAll(`.stage ${selector}`)];
  const places = (selector) => cells(selector).map((one) => `${one.dataset.row},${one.dataset.col}`);
  const map = cells(".map td").map((one) => [`${one.dataset.row},${one.dataset.col}`, one.dataset.state, one.innerText.trim()]);
  return {
    texts,
    states: Object.fromEntries(map.map(([place, state]) => [place, state])),
    words: Object.fromEntries(map.map(([place, , words]) => [place, words])),
    lit: Object.fromEntries(["q", "k", "v"].map((name) => [name, places(`[data-cell="${name}"][data-lit]`)])),
    rows: cells(".keeps tr[data-lit]").map((one) => Number(one.dataset.row)),
    made: cells("[data-made]").map((one) => `${one.dataset.cell} ${one.dataset.row},${one.dataset.col}`),
    phases: [...root.querySelectorAll("[data-phase]")].map((one) => one.dataset.on ?? ""),
    readout: root.querySelector('[data-part="readout"]').textContent,
  };
}
"""


class Tiles(Widget):
    """The tile page. What it shows is read from the stage; a second way beside it has numbers of its own."""

    def open(self, query: str = "", path: str = PATH, script: bool = True) -> Any:
        return super().open(query, path, script)

    def cell(self, name: str, row: int = 0, col: int = 0) -> Locator:
        return self.root.locator(f'.stage td[data-cell="{name}"][data-row="{row}"][data-col="{col}"]')

    def beside(self, path: str, row: int | None = None, col: int | None = None) -> Locator:
        where = "".join(f'[data-{name}="{place}"]' for name, place in (("row", row), ("col", col)) if place is not None)
        return self.root.locator(f'[data-beside] data[data-value="{path}"]{where}')

    def look(self) -> dict[str, Any]:
        found: dict[str, Any] = self.root.evaluate(SEE)
        return found

    def phase(self) -> str | None:
        """The phase shown now, while a step is taken slowly."""
        now = self.look()["phases"]
        assert now.count("now") <= 1
        if "now" not in now:
            return None
        place = now.index("now")
        assert now == ["done"] * place + ["now"] + ["later"] * (len(PHASES) - 1 - place)
        return PHASES[place]

    def mapped(self) -> None:
        """Plotly has drawn the map."""
        expect(self.root.locator('[data-chart="tiles"][data-plotted]')).to_have_count(1, timeout=20_000)

    def reads(self) -> Locator:
        return self.part("readout")


class Runs:
    """Whole runs from the API, of any machine."""

    kept: dict[str, list[dict[str, Any]]] = {}  # noqa: RUF012 (one for the session)

    def __init__(self, api: Api) -> None:
        self.api = api

    def __call__(self, query: str, machine: str = "tiled-attention") -> list[dict[str, Any]]:
        path = f"/api/v1/machines/{machine}/snapshots?{query}"
        if path not in self.kept:
            found: list[dict[str, Any]] = []
            while not found or len(found) <= found[0]["steps"]:
                found += self.api.json(f"{path}&start={len(found)}")["snapshots"]
            self.kept[path] = found
        return self.kept[path]


def places(rows: list[int], count: int) -> list[str]:
    return [f"{row},{col}" for row in range(*rows) for col in range(count)]


def grid(table: list[Any], top: int = 0, left: int = 0) -> dict[str, str]:
    """A table's numbers by place, as the page writes them; a vector's by row."""
    found = {}
    for i, row in enumerate(table, top):
        for j, one in enumerate(row if isinstance(row, list) else [row], left):
            found[f"{i},{j}" if isinstance(row, list) else f"{i}"] = show(one)
    return found


def there(texts: dict[str, str]) -> dict[str, str]:
    return {place: text for place, text in texts.items() if text not in ("", "–")}


def factors(event: dict[str, Any]) -> dict[str, str]:
    """Each row's factor; none for a row that kept nothing yet, which has nothing to rescale, and no alarming 0."""
    told = grid(event.get("alpha", []), event.get("q_rows", [0])[0])
    return {place: text for (place, text), fresh in zip(told.items(), event.get("fresh", []), strict=True) if not fresh}


def agrees(widget: Tiles, shot: dict[str, Any]) -> dict[str, Any]:
    """The stage shows this snapshot: its numbers and no others, its cells, and the tile lit."""
    widget.at(shot["step"], shot["steps"])
    seen, event, state = widget.look(), shot["event"], shot["state"]
    texts = {path: there(seen["texts"].get(path, {})) for path in ("event.scores", "event.p", *KEEPS)}
    top, left = event.get("q_rows", [0])[0], event.get("k_cols", [0])[0]
    live = {place for place, kind in seen["states"].items() if kind == "live"}
    for name in ("scores", "p"):
        told = grid(event.get(name, []), top, left)
        assert texts[f"event.{name}"] == {place: text for place, text in told.items() if place in live}, f"{name} at {shot['step']}"
    assert texts["event.m_old"] == grid(event.get("m_old", []), top)
    assert texts["event.alpha"] == factors(event)
    for name in ("m", "l", "acc", "output"):
        assert texts[name] == grid(state.get(name, [])), f"{name} at {shot['step']}"
    assert seen["states"] == {f"{i},{j}": kind for i, row in enumerate(state["cells"]) for j, kind in enumerate(row)}
    for place, words in seen["words"].items():
        if seen["states"][place] in ("consumed", "masked"):
            assert words == seen["states"][place]
    rows = [] if event.get("skipped") else list(range(*event.get("q_rows", (0, 0))))
    assert sorted({int(place.split(",")[0]) for place in seen["lit"]["q"]}) == rows
    keys = sorted({int(place.split(",")[0]) for place in seen["lit"]["k"]})
    assert keys == ([] if event.get("skipped") else list(range(*event.get("k_cols", (0, 0)))))
    assert keys == sorted({int(place.split(",")[0]) for place in seen["lit"]["v"]})
    assert seen["rows"] == rows
    assert widget.words("caption").first.inner_text() == shot["caption"]
    return seen


def beside_agrees(widget: Tiles, shot: dict[str, Any], paths: tuple[str, ...]) -> None:
    """Each number of the second way is what its own run says."""
    expect(widget.root.locator("[data-beside] [data-text=caption]")).to_have_text(shot["caption"])
    found = widget.root.locator("[data-beside] data[data-value]").evaluate_all(
        "(all) => all.map((one) => [one.dataset.value, one.dataset.row, one.dataset.col, one.textContent])"
    )
    assert set(paths) <= {path for path, *_ in found}
    for path, row, col, text in found:
        if path == "event.alpha":
            assert text == factors(shot["event"]).get(row, "–")
            continue
        place = [int(one) for one in (row, col) if one is not None]
        if path.startswith("event."):
            place[0] -= shot["event"].get("q_rows", [0])[0]
            told = pick(shot, path, place) if place[0] >= 0 else None
        else:
            told = pick(shot, path, place)
        assert text in (("", "–") if told is None else (show(told),)), f"{path} {row},{col} at step {shot['step']}"
