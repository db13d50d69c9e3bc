"""The run of snapshots, with a server that the test plays."""

import pytest

from tests.js.conftest import Core

START = """
  const asked = [];
  const answers = [];
  const shot = (step) => ({ step, links: { self: `api/v1/machines/x/snapshots/${step}?scores=1,2&format=float32` } });
  const part = (start, count) => {
    const last = Math.min(start + count - 1, given.steps);
    const snapshots = [];
    for (let step = start; step <= last; step++) snapshots.push(shot(step));
    return { steps: given.steps, start, count: snapshots.length, snapshots };
  };
  const get = (url) => {
    asked.push(url);
    const query = new URL(url, "http://x/").searchParams;
    const answer = answers.shift();
    if (answer) return answer(url);
    return Promise.resolve({ ok: true, json: async () => part(Number(query.get("start")), Math.min(Number(query.get("count")), given.most)) });
  };
  const waits = [];
  const wait = async (ms) => { waits.push(ms); };
  const run = new module.Run(part(given.start, given.count), given.base, get, wait);
  const settle = async () => {
    do {
      await Promise.allSettled(run.waiting.values());
      await new Promise((done) => setTimeout(done)); // what waits for no time at all goes on
    } while (run.waiting.size);
  };
  const starts = () => asked.map((url) => Number(new URL(url, "http://x/").searchParams.get("start")));
"""
TIMES = 4  # that a part is asked for before it has failed
REFUSES = f"for (let n = 0; n < {TIMES}; n++) answers.push(async () => ({{ ok: false, status: 503 }}));"
BREAKS = f"for (let n = 0; n < {TIMES}; n++) answers.push(async () => {{ throw new TypeError('Failed to fetch'); }});"


@pytest.fixture
def run(core: Core) -> Core:
    def go(body: str, **given: object):
        return core("run", START + body, {"steps": 200, "start": 0, "count": 64, "base": "/site/", "most": 64, **given})

    return go


def test_what_came_with_the_page_is_there(run: Core):
    assert run("return [run.get(0).step, run.get(63).step, run.get(64) === undefined, (await run.want(40)).step, asked.length];") == [
        0,
        63,
        True,
        40,
        0,
    ]


def test_the_rest_is_asked_for_in_parts_of_64(run: Core):
    told = run("const found = await run.want(64); await run.want(127); return [found.step, asked];")
    assert told == [64, ["/site/api/v1/machines/x/snapshots?scores=1,2&format=float32&start=64&count=64&charts=1"]]


def test_a_far_step_is_asked_for_at_once(run: Core):
    assert run("return [(await run.want(150)).step, starts(), run.get(100) === undefined];") == [150, [150], True]


def test_nothing_is_fetched_ahead_too_early(run: Core):
    assert run("for (let step = 0; step <= 63 - module.AHEAD; step++) run.prefetch(step); return asked;") == []


def test_the_next_part_is_fetched_ahead_once(run: Core):
    told = run(
        "for (let step = 0; step <= 63; step++) run.prefetch(step); await settle(); return [starts(), run.get(64).step, run.get(127).step];"
    )
    assert told == [[64], 64, 127]


def test_playing_through_asks_once_a_part(run: Core):
    told = run("for (let step = 0; step <= 200; step++) { await run.want(step); run.prefetch(step); await settle(); } return starts();")
    assert told == [64, 128, 192]


def test_nothing_is_fetched_past_the_end(run: Core):
    assert run("for (let step = 0; step <= 63; step++) run.prefetch(step); return asked;", steps=63) == []
    assert run("run.prefetch(30); await settle(); return [asked, run.get(40).step];", steps=40) == [[], 40]


def test_a_server_that_sends_fewer(run: Core):
    told = run(
        "const shots = []; for (let step = 60; step < 100; step++) shots.push((await run.want(step)).step); return [shots.at(-1), starts()];",
        most=10,
    )
    assert told == [99, [64, 74, 84, 94]]


def test_two_who_want_the_same_ask_once(run: Core):
    assert run("const [a, b] = await Promise.all([run.want(64), run.want(64)]); return [a === b, starts()];") == [True, [64]]


def test_what_is_on_its_way_is_waited_for(run: Core):
    assert run("run.prefetch(60); await run.want(64); return starts();") == [64]


def test_a_later_step_of_a_part_on_its_way(run: Core):
    assert run("run.prefetch(60); return (await run.want(70)).step;") == 70


@pytest.mark.parametrize(("failure", "said"), [(REFUSES, "The server answered 503"), (BREAKS, "Failed to fetch")])
def test_a_failure_is_told_after_a_few_tries_and_the_part_comes_later(run: Core, failure: str, said: str):
    told = run(
        failure
        + "const error = await run.want(64).catch((e) => e.message); const then = run.get(64) === undefined; await settle();"
        + "return [error, then, (await run.want(64)).step, starts(), waits];"
    )
    assert told == [said, True, 64, [64] * (TIMES + 1), [300, 900, 2500, 1000]]


def test_who_waits_is_told_once_the_part_is_there(run: Core):
    told = run(
        BREAKS
        + "const told = []; await run.want(64).catch(() => {}); run.once(63, () => told.push('too early')); run.once(64, () => told.push('there'));"
        "await settle(); run.add({ snapshots: [shot(64)] }); return told;"
    )
    assert told == ["there"]


def test_an_answer_that_breaks_off_is_asked_for_again(run: Core):
    told = run(
        "answers.push(async () => ({ ok: true, status: 200, json: async () => { throw new TypeError('network error'); } }));"
        "return [(await run.want(64)).step, starts().length, waits];"
    )
    assert told == [64, 2, [300]]


def test_which_failures_will_pass(run: Core):
    told = run(
        "const errors = [new TypeError('Failed to fetch'), new DOMException('', 'TimeoutError'), new Error('', { cause: 503 }), new Error('', { cause: 429 }),"
        "new Error('', { cause: 500 }), new Error('', { cause: 422 }), new Error('not part of this copy')]; return errors.map(module.passes);"
    )
    assert told == [True, True, True, True, False, False, False]


@pytest.mark.parametrize("failure", [REFUSES, BREAKS])
def test_what_passes_soon_is_never_seen(run: Core, failure: str):
    told = run(failure + "answers.pop(); return [(await run.want(64)).step, starts().length, waits];")
    assert told == [64, TIMES, [300, 900, 2500]]


def test_a_busy_server_is_waited_for_as_long_as_it_says(run: Core):
    told = run(
        "const headers = new Headers({ 'Retry-After': '4' }); answers.push(async () => ({ ok: false, status: 503, headers })); "
        "await run.want(64); return waits;"
    )
    assert told == [4000]


def test_an_answer_that_will_not_change_is_told_at_once(run: Core):
    told = run(
        "answers.push(async () => ({ ok: false, status: 422 })); return [await run.want(64).catch((e) => e.message), starts().length];"
    )
    assert told == ["The server answered 422", 1]


def test_a_server_that_stays_away_is_asked_less_and_less_often_and_not_for_ever(run: Core):
    told = run(
        "const gone = async () => { throw new TypeError('Failed to fetch'); }; for (let n = 0; n < 999; n++) answers.push(gone); run.prefetch(60);"
        "await settle(); return [waits.filter((ms) => module.LATER.includes(ms)), run.get(63).step];"
    )
    assert told[0] == sorted(told[0])
    assert len(told[0]) == 20
    assert told[0][-1] == 30_000
    assert told[1] == 63


def test_a_failure_ahead_is_silent_and_it_comes_later(run: Core):
    told = run(BREAKS + "run.prefetch(60); await settle(); return [run.get(64).step, starts().length];")
    assert told == [64, TIMES + 1]


def test_a_run_that_begins_in_the_middle(run: Core):
    """A page opened at a late step: what lies before it is fetched too, in parts and not step by step."""
    told = run(
        "const seen = []; for (let step = 100; step >= 60; step--) { seen.push((await run.want(step)).step); run.prefetch(step); await settle(); } return [seen.length, starts().length];",
        start=100,
        count=10,
    )
    assert told[0] == 41
    assert told[1] <= 5


def test_the_root_of_the_site(run: Core):
    assert run("await run.want(64); return asked[0];", base="/").startswith("/api/v1/")
