"""The tile page's pure functions: what a step shows part-way through its phases, and how a number came about, in figures."""

import json
from typing import Any

import pytest

from app import runs
from app.machines import MACHINES
from app.numbers import wire
from app.specs import parse
from app.stories.tiled import frame as tiled_frame

TILED = MACHINES["tiled-attention"]
SMALL = {"q": "1,0;0,1", "k": "1,2;2,1;3,0;2,1", "v": "2,0;0,2;0,2;1,1", "scale": "1"}
RAGGED = {"seed": "5", "n_q": "5", "n_k": "7", "d": "3", "d_v": "2", "block_q": "2", "block_k": "3"}
PHASES = ["load", "score", "max", "rescale", "exponentiate", "accumulate", "consume"]


def shots(given: dict[str, str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A run and its frame, as they reach the page."""
    spec = parse(TILED, given, "page", strict=False)
    run = [wire(runs.snapshot(TILED, spec, step)) for step in range(TILED.steps(spec) + 1)]
    return json.loads(json.dumps([run, tiled_frame(spec)]))


@pytest.fixture
def tiles(core):
    def run(body: str, given: Any = None) -> Any:
        return core("../widgets/tiled-attention", body, given)

    return run


@pytest.fixture
def says(tiles):
    def said(given: dict[str, str], step: int, *cells: tuple[str, int, int]) -> list[str]:
        run, frame = shots(given)
        body = "return given.cells.map(([name, row, col]) => module.arithmetic(given.shot, given.frame, name, row, col));"
        return tiles(body, {"shot": run[step], "frame": frame, "cells": cells})

    return said


@pytest.mark.parametrize("given", [SMALL, RAGGED, {**RAGGED, "algorithm": "fa1"}], ids=["small", "ragged", "fa1"])
def test_a_phase_changes_nothing_but_its_own_rows_and_never_its_input(tiles, given: dict[str, str]):
    run, _ = shots(given)
    for shot in run:
        if not shot["event"].get("phases"):
            continue
        kept, parts = tiles("const parts = [0, 1, 2, 3, 4, 5, 6].map((phase) => module.at(given, phase)); return [given, parts];", shot)
        assert kept == shot
        top, bottom = shot["event"]["q_rows"]
        for phase, part in enumerate(parts):
            assert part["phase"] == phase
            for name in ("m", "l", "acc", "output"):
                whole, now = shot["state"].get(name), part["state"].get(name)
                assert (whole is None) == (now is None)
                if whole is not None:
                    assert len(now) == len(whole)
                    assert (now[:top], now[bottom:]) == (whole[:top], whole[bottom:])
            assert part["caption"] == shot["words"][f"phase_{PHASES[phase]}"]
            assert {name: part[name] for name in ("step", "ledger", "links")} == {name: shot[name] for name in ("step", "ledger", "links")}


def test_each_phase_adds_its_own_and_the_last_drops_the_tile(tiles):
    run, _ = shots(SMALL)
    shot = run[2]
    parts = tiles("return [0, 1, 2, 3, 4, 5, 6].map((phase) => module.at(given, phase));", shot)
    has = {name: [name in part["event"] for part in parts] for name in ("scores", "alpha", "p")}
    assert has == {
        "scores": [False, True, True, True, True, True, False],
        "alpha": [False, False, False, True, True, True, True],
        "p": [False, False, False, False, True, True, False],
    }
    event, state = shot["event"], shot["state"]
    assert [part["state"]["m"] for part in parts] == [event["m_old"]] * 2 + [event["m_new"]] * 5
    assert [part["state"]["l"] for part in parts] == [event["l_old"]] * 3 + [event["l_rescaled"]] * 2 + [state["l"]] * 2
    assert [part["state"]["acc"] for part in parts] == [event["acc_old"]] * 3 + [event["acc_rescaled"]] * 2 + [state["acc"]] * 2
    assert [sorted({kind for row in part["state"]["cells"] for kind in row}) for part in parts] == [["consumed", "live"]] * 6 + [
        ["consumed"]
    ]


def test_the_phases_are_the_machines_own(tiles):
    run, _ = shots(SMALL)
    assert run[1]["event"]["phases"] == PHASES


def test_a_score_in_figures(says):
    assert says(SMALL, 2, ("scores", 0, 2), ("scores", 1, 2)) == [
        "Query 1, key 3: 1 × 3 + 0 × 0 = 3; its size is exp(3 − 3) = 1.",
        "Query 2, key 3: 0 × 3 + 1 × 0 = 0; its size is exp(0 − 2) ≈ 0.135.",
    ]


def test_negative_numbers_stand_in_brackets_inside_a_sum(says):
    (said,) = says({**SMALL, "q": "-1,2;0,1"}, 1, ("scores", 0, 0))
    assert "(−1) × 1 + 2 × 2 = 3" in said
    (said,) = says({**SMALL, "q": "-1,-2;0,1"}, 1, ("scores", 0, 0))
    assert "(−1) × 1 + (−2) × 2 = −5" in said
    assert "exp(−5 − (−4))" in said


def test_a_long_sum_is_cut_short(says):
    eight = ",".join("1" * 8)
    (said,) = says({"q": f"{eight};", "k": f"{eight};", "v": "1;", "scale": "1"}, 1, ("scores", 0, 0))
    assert "1 × 1 + 1 × 1 + 1 × 1 + … = 8" in said


def test_a_scale_is_told(says):
    (said,) = says({**SMALL, "scale": "0.5"}, 2, ("scores", 0, 2))
    assert "= 3, times the scale 0.500 = 1.500" in said


@pytest.mark.parametrize("name", ["m_old", "m", "alpha", "l", "acc", "output"])
def test_every_number_kept_has_its_sentence_at_every_step(says, name: str):
    for given in (SMALL, RAGGED, {**RAGGED, "algorithm": "fa1"}, {**SMALL, "key_lengths": "0,3"}):
        if name == "acc" and given.get("algorithm") == "fa1":
            continue
        run, _ = shots(given)
        rows = len(run[0]["state"]["m"])
        for step in range(len(run)):
            for said in says(given, step, *((name, row, 0) for row in range(rows))):
                assert said.endswith(".")
                assert "undefined" not in said
                assert "NaN" not in said


def test_a_first_factor_is_no_number(says):
    (said,) = says(SMALL, 1, ("alpha", 0, 0))
    assert "nothing to rescale" in said


def test_a_row_with_no_live_key_is_not_said_to_be_rescaled_by_a_sum(says):
    """exp(−∞ − −∞) is never formed: there is nothing to rescale."""
    (said,) = says({**SMALL, "key_lengths": "0,3"}, 2, ("alpha", 0, 0))
    assert "exp" not in said


def test_a_row_outside_the_tile_is_unchanged(says):
    said = says(RAGGED, 1, ("m", 4, 0), ("l", 4, 0), ("acc", 4, 0), ("alpha", 4, 0))
    assert all("does not change it" in one or "no part" in one for one in said)


def test_a_new_tile_of_queries_is_said_of_its_own_rows(says):
    """Row and column count from the whole: the second Q tile's scores are not the first's."""
    run, frame = shots(RAGGED)
    step = next(shot["step"] for shot in run if shot["event"].get("q_rows") == [2, 4])
    (said,) = says(RAGGED, step, ("scores", 3, 1))
    dots = run[step]["event"]["dots"][1][1]
    assert f"≈ {dots:.3f}".replace("-", "−") in said
    assert sum(a * b for a, b in zip(frame["q"][3], frame["k"][1], strict=True)) == pytest.approx(dots, abs=1e-5)
