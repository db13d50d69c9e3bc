"""What a moving picture costs: never more than its seconds, whatever its address, counted in frames, pixels, letters and numbers."""

import io
from urllib.parse import parse_qsl

import pytest
from PIL import Image, ImageChops
from starlette.testclient import TestClient

from app.__main__ import main
from app.charts.outlines import outlined
from app.figures import moving
from app.figures.file import size_of
from app.figures.kinds import Job, make
from app.machines import MACHINES
from app.main import create_app
from app.routes.figures import job_of
from app.settings import Settings
from app.specs import SpecError
from app.stories import BY_NAME, PICTURES

SCORES_SHOWN = (6.0, 5.0, 7.0, 6.0, 7.0, 9.0, 8.0, 6.0)
SCORES = ",".join(f"{i * 7 % 13}.125" for i in range(64))
VALUES = ";".join(",".join(["1.5"] * 16) for _ in range(64))
TILES = [
    f"seed=2&n_q={n}&n_k={n}&d={d}&d_v={d}&block_q={block}&block_k={block}&format={form}"
    for n, d, block, form in (
        (8, 4, 1, "float32"),
        (16, 16, 1, "float32"),
        (64, 16, 1, "bfloat16"),
        (64, 16, 2, "float32"),
        (64, 16, 8, "bfloat16"),
    )
]
DEAREST = {
    "online-softmax": [f"scores={SCORES}&values={VALUES}"],
    "online-softmax-history": [f"scores={SCORES}"],
    "softmax-passes": [f"scores={SCORES}&method={method}" for method in ("safe", "online-shares")],
    "division-order": [f"scores={SCORES}&values={VALUES}"],
    "merge": [f"scores={SCORES}&values={VALUES}&splits=8&merge_order={order}" for order in ("left", "tree")],
    "tiled-attention": TILES,
    "memory-traffic": [""],
}


def job(name: str, query: str) -> Job:
    return job_of(name, "gif", dict(parse_qsl(query)))


def test_each_picture_has_its_dearest_addresses_here():
    assert set(DEAREST) == {name for name, picture in PICTURES.items() if picture.machine.name in BY_NAME} - {"standard-attention"}


@pytest.mark.parametrize(("name", "query"), [(name, one) for name, listed in DEAREST.items() for one in listed],
                         ids=lambda text: text[:70])  # fmt: skip
def test_the_dearest_is_within_its_seconds_or_refused_in_words(name, query, monkeypatch):
    drawn = []
    dot = io.BytesIO()
    Image.new("RGB", (1, 1)).save(dot, "PNG")
    monkeypatch.setattr(moving, "png", lambda picture, scale: drawn.append((picture, scale)) or dot.getvalue())
    asked = job_of(name, "json", dict(parse_qsl(query)))
    load, steps = BY_NAME[asked.machine].load(asked.spec), asked.made.steps(asked.spec)
    run = (load.touched + steps * load.step) / 1e6
    if run > 2:
        with pytest.raises(SpecError, match="at most about") as refused:
            job(name, query)
        assert 0 < dict(refused.value.faults[0].allowed)["most"] < steps
        return
    made = make("gif", asked)
    shown = Image.open(io.BytesIO(made)).n_frames
    assert min(steps + 1, moving.LEAST) <= max(shown, len(drawn)) <= moving.FRAMES
    letters = sum(len(outlined(picture)) for picture, _ in drawn)
    pixels = sum(size_of(picture)[0] * size_of(picture)[1] * scale**2 for picture, scale in drawn)
    rate = moving.EACH * len(drawn) + (moving.PIXELS * pixels + moving.LETTERS * letters + moving.NUMBERS * load.shown * len(drawn)) / 1e6
    assert run + rate <= moving.SECONDS * 1.05


def test_what_is_short_has_a_frame_a_step_in_the_colours_of_its_figure():
    shown = Image.open(io.BytesIO(make("gif", job("online-softmax", "scores=1,3,2,5"))))
    assert shown.n_frames == 5
    colours = set()
    for place in range(5):
        shown.seek(place)
        colours |= {colour for count, colour in shown.convert("RGB").getcolors(2**20) if count > 200}
    assert {(0xFF, 0xFD, 0xF8), (0x2F, 0x62, 0xC4), (0xC2, 0x50, 0x0E)} <= colours


def test_nobody_waits_so_no_frame_more_is_drawn(monkeypatch):
    drawn, asked = [], iter([True] * 9)
    monkeypatch.setattr(moving, "figure", lambda *given, _real=moving.figure, **more: drawn.append(1) or _real(*given, **more))
    from app.figures.kinds import moving as gif_of

    with pytest.raises(moving.Unwanted):
        gif_of(job("online-softmax", "scores=1,3,2,5"), lambda: next(asked, False))
    assert len(drawn) <= 5


def test_a_run_too_long_is_refused_in_words():
    with TestClient(create_app(Settings())) as client:
        answer = client.get("/figures/tiled-attention.gif?seed=1&n_q=64&n_k=64&d=16&d_v=16&block_q=1&block_k=1&format=bfloat16")
    assert answer.status_code == 422
    assert "larger blocks" in answer.text


def test_a_film_runs_through_the_beats_of_a_step(tmp_path):
    """Its first frame is the state before, its last the state itself, and those between are many and differ."""
    film = tmp_path / "shrink.gif"
    main(["figure", "online-softmax?step=6", str(film), "--moving", "5"])
    shown = Image.open(film)
    frames = []
    for at in range(shown.n_frames):
        shown.seek(at)
        frames.append(shown.convert("RGB").tobytes())
    assert len(frames) > 12
    assert len(set(frames)) > 10
    whole = Image.open(
        io.BytesIO(make("gif", Job("online-softmax", "online-softmax", MACHINES["online-softmax"].spec(scores=SCORES_SHOWN), 6)))
    )
    whole.seek(6)
    assert whole.size == shown.size
    apart = ImageChops.difference(whole.convert("RGB"), Image.frombytes("RGB", shown.size, frames[-1])).convert("L")
    assert sum(apart.histogram()[64:]) < 0.01 * shown.size[0] * shown.size[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["online-softmax?step=6", "a.png", "--moving", "5"], "only a GIF moves"),
        (["online-softmax?step=2", "a.gif", "--moving", "2"], "before the address's own"),
    ],
)
def test_a_film_of_nothing_is_refused_in_words(given, said, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["figure", given[0], str(tmp_path / given[1]), *given[2:]])
    assert said in capsys.readouterr().err
