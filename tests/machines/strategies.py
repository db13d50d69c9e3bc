"""Random specs of online softmax for hypothesis."""

import math
import sys

from hypothesis import strategies as st

from app.machines.formats import FORMATS

NAMES = tuple(FORMATS)
score = st.one_of(
    st.integers(-12, 12).map(float),  # ties, and new highest scores that matter
    st.floats(-20, 20),
    st.floats(-1000, 1000),
    st.sampled_from([0.0, -0.0, 0.5, 88.5, 11.0, -104.0]),
)
wild = st.sampled_from([math.nan, math.inf, -math.inf, sys.float_info.max, -1e300, 65504.0, -65504.0, 448.0, 5e-324])
element = st.one_of(st.integers(-50, 50).map(float), st.floats(-1000, 1000))


@st.composite
def specs(draw, specials=True):
    """Any spec: 1 to 64 scores, every format for each part, blocks longer than the row too, masks, offsets, values bare or vectors."""
    n = draw(st.integers(1, 64))
    of_score = draw(st.sampled_from([score, st.one_of(score, st.just(-math.inf)), *([st.one_of(score, wild)] if specials else [])]))
    of_element = draw(st.sampled_from([element, *([st.one_of(element, wild)] if specials else [])]))
    width = draw(st.sampled_from([0, 0, None, 1, 2, 3]))
    scores = tuple(draw(st.lists(of_score, min_size=n, max_size=n)))
    values = None
    if width is None:
        values = tuple(draw(st.lists(of_element, min_size=n, max_size=n)))
    elif width:
        values = tuple(draw(st.lists(st.tuples(*[of_element] * width), min_size=n, max_size=n)))
    masked = draw(st.sampled_from([0, 0, 1, n // 2, n]))  # a run of masked scores at the start
    return {
        "scores": (-math.inf,) * masked + scores[masked:],
        "values": values,
        "offset": draw(st.sampled_from([0.0, 0.0, 80.0, 100.0, -3.25]) | st.floats(-1000, 1000)),
        "format": draw(st.sampled_from(NAMES)),
        "accumulate": draw(st.none() | st.sampled_from(NAMES)),
        "block": draw(st.integers(1, 70)),
    }


@st.composite
def rows(draw, name, most=40.0, mask=True):
    """Scores that one format holds exactly, at least one of them live."""
    one = st.one_of(st.integers(-9, 9).map(float), st.floats(-most, most)).map(FORMATS[name].round)
    n = draw(st.integers(1, 64))
    scores = draw(st.lists(st.one_of(one, st.just(-math.inf)) if mask else one, min_size=n, max_size=n))
    scores[draw(st.integers(0, n - 1))] = draw(one)
    return tuple(scores)
