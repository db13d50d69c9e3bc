"""The player, with a clock that the test turns."""

import pytest

from tests.js.conftest import Core

START = """
  const due = [];
  const log = [];
  const clock = {
    set: (tick, ms) => { const one = { tick, ms }; due.push(one); return one; },
    clear: (one) => { const at = due.indexOf(one); if (at >= 0) due.splice(at, 1); },
  };
  const turn = () => { const one = due.shift(); one.tick(); return one.ms; };
  const player = new module.Player(given.steps, given.step ?? 0, clock);
  player.changed = (why) => log.push(`${why} ${player.step}${player.playing ? " playing" : ""}`);
"""


@pytest.fixture
def player(core: Core) -> Core:
    def run(body: str, steps: int = 3, step: int = 0):
        return core("player", START + body, {"steps": steps, "step": step})

    return run


def test_steps_by_hand(player: Core):
    assert player("player.next(); player.next(); player.back(); player.reset(); return log;") == ["user 1", "user 2", "user 1", "user 0"]


def test_stops_at_both_ends_without_a_word(player: Core):
    assert player("player.back(); player.seek(-5); player.seek(99); player.next(); player.seek(3); return log;") == ["user 3"]


@pytest.mark.parametrize(("to", "step"), [("2.4", 2), ("'1'", 1), ("NaN", 0), ("undefined", 0), ("Infinity", 3), ("-Infinity", 0)])
def test_seeks_a_whole_step_that_exists(player: Core, to: str, step: int):
    assert player(f"player.seek({to}); return player.step;") == step


def test_plays_to_the_end_and_stops(player: Core):
    told = player(
        "player.play(); const beats = []; while (due.length) beats.push(turn()); return { log, beats, playing: player.playing, beat: module.BEAT };"
    )
    assert told["log"] == ["state 0 playing", "play 1 playing", "play 2 playing", "play 3 playing", "state 3"]
    assert told["beats"] == [told["beat"]] * 3
    assert told["playing"] is False


def test_plays_anew_from_the_end(player: Core):
    assert player("player.play(); turn(); return log;", step=3) == ["state 3 playing", "play 0 playing", "play 1 playing"]


def test_pause_forgets_the_next_beat(player: Core):
    assert player("player.play(); turn(); player.pause(); return [log.at(-1), due.length];") == ["state 1", 0]


def test_toggle(player: Core):
    assert player("player.toggle(); const on = player.playing; player.toggle(); return [on, player.playing, due.length];") == [
        True,
        False,
        0,
    ]


def test_play_twice_is_play_once(player: Core):
    assert player("player.play(); player.play(); return [log, due.length];") == [["state 0 playing"], 1]


def test_pause_when_paused_says_nothing(player: Core):
    assert player("player.pause(); return log;") == []


@pytest.mark.parametrize("act", ["next", "back", "reset"])
def test_a_step_by_hand_pauses_first(player: Core, act: str):
    told = player(f"player.play(); turn(); player.{act}(); return [log, due.length, player.playing];")
    assert told[0][2:] == ["state 1", {"next": "user 2", "back": "user 0", "reset": "user 0"}[act]]
    assert told[1:] == [0, False]


def test_speed_counts_from_the_next_beat(player: Core):
    told = player(
        "player.play(); player.speed = 2; const a = turn(); const b = turn(); player.speed = 0.5; turn(); return [a, b];", steps=5
    )
    assert told == [1400, 700]


def test_a_listener_may_pause(player: Core):
    """A step that cannot be shown stops the play: no beat may be left waiting."""
    told = player(
        "player.changed = (why) => { if (why === 'play') player.pause(); }; player.play(); turn(); return [player.step, player.playing, due.length];"
    )
    assert told == [1, False, 0]


def test_a_run_of_no_steps(player: Core):
    assert player("player.next(); player.play(); while (due.length) turn(); return [player.step, player.playing];", steps=0) == [0, False]


def test_its_own_clock(core: Core):
    """Without a given clock, real time runs."""
    body = """const player = new module.Player(1);
      player.speed = 100;
      return new Promise((done) => { player.changed = (why) => { if (why === "state" && !player.playing) done(player.step); }; player.play(); });"""
    assert core("player", body) == 1


def test_playing_waits_for_a_step_that_is_on_its_way(player: Core):
    told = player(
        "player.play(); turn(); player.held = true; turn(); turn(); const waited = player.step; player.held = false; turn();"
        "return { waited, step: player.step, playing: player.playing, due: due.length };"
    )
    assert told == {"waited": 1, "step": 2, "playing": True, "due": 1}


def test_playing_does_not_end_before_its_last_step_has_come(player: Core):
    told = player(
        "player.changed = (why) => { if (why === 'play') player.held = true; }; player.play(); turn(); turn(); const going = player.playing;"
        "player.held = false; turn(); return [going, player.playing, player.step];",
        1,
    )
    assert told == [True, False, 1]
