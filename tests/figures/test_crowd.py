"""Many who ask for pictures at once: some are told to come again, and nobody who asks for something light waits for them."""

import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

LARGE = "seed={}&n_q=32&n_k=32&d=16&d_v=16&block_q=2&block_k=2&step=150"


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read()


def test_a_crowd_starves_nobody(site):
    pictures = [f"{site}/figures/tiled-attention.png?{LARGE.format(seed)}" for seed in range(80)]
    ask(f"{site}/figures/online-softmax.png")  # the workers have started
    waits = []
    with ThreadPoolExecutor(80) as crowd:
        asked = [crowd.submit(ask, url) for url in pictures]
        while not all(one.done() for one in asked):
            begun = time.perf_counter()
            assert ask(f"{site}/healthz")[0] == 200
            waits.append(time.perf_counter() - begun)
            time.sleep(0.02)
        answers = [one.result() for one in asked]
    seen = Counter(status for status, _, _ in answers)
    assert set(seen) == {200, 503}, seen
    for status, headers, body in answers:
        if status == 200:
            assert body.startswith(b"\x89PNG")
        else:
            assert int(headers["Retry-After"]) > 0
            assert b"ask again" in body
    assert sorted(waits)[len(waits) // 2] < 0.5
    assert max(waits) < 5
    assert ask(pictures[0])[0] == 200  # and afterwards all is well


def test_those_who_ask_for_the_same_share_one_drawing(site):
    url = f"{site}/figures/tiled-attention.png?{LARGE.format(1000)}"
    with ThreadPoolExecutor(80) as crowd:
        answers = list(crowd.map(ask, [url] * 80))
    assert {status for status, _, _ in answers} == {200}
    assert len({body for _, _, body in answers}) == 1
