"""One state, one address: a spec written into a link and read back is the same spec, for every machine and whatever it holds."""

import math
import sys
from contextlib import suppress
from urllib.parse import parse_qsl

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.machines import MACHINES
from app.specs import SpecError, parse, pasted_in, query, text

number = st.one_of(
    st.integers(-12, 12).map(float),
    st.floats(),
    st.sampled_from([0.0, -0.0, 0.1, 1e-320, 5e-324, sys.float_info.max, 1 / 3, 1e16, 123456789.125, math.inf, -math.inf, math.nan]),
)


def lists(of, least, most):
    return st.lists(of, min_size=least, max_size=most)


@st.composite
def values(draw, machine):
    """A value for each field of a machine's table, or none: by its kind and limits alone, so that a new machine is tried too."""
    n, wide = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    seeded = draw(st.booleans())  # what stands in for data, or the data itself
    found = {}
    for one in machine.fields:
        data = one.data and one.kind == "matrix"
        if one.stands_in != seeded and (data or one.stands_in):
            continue
        if not (one.required or one.stands_in or data) and draw(st.booleans()):
            continue
        if any(other.yields == one.name and other.name in found for other in machine.fields):
            continue  # the two say the same: one of them
        least, most = int(max(one.least, 0)), int(min(one.most or 6, 6))
        rows = draw(st.integers(1, 6)) if one.name == "q" else n
        whole = st.integers(least, max(least, most))
        found[one.name] = draw(
            {
                "choice": st.sampled_from(one.choices or ("",)),
                "integer": whole,
                "integers": lists(whole, 1, 1),
                "number": st.floats(one.least, one.most) if one.kind == "number" else st.none(),
                "scale": st.one_of(st.just("auto"), st.floats(-8, 8)),
                "vector": lists(number, n, n),
                "rows": st.one_of(lists(number, n, n), lists(lists(number, wide, wide), n, n)),
                "matrix": lists(lists(number, wide, wide), rows, rows),
            }[one.kind]
        )
    return found


@pytest.mark.parametrize("name", list(MACHINES))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_link_read_back_is_the_same_spec(name, data):
    machine = MACHINES[name]
    found = data.draw(values(machine))
    spec = None
    while spec is None:  # fields that do not go together are left out until the rest does
        try:
            spec = parse(machine, {one: _typed(value) for one, value in found.items()}, "page")
        except SpecError as error:
            wrong = {fault.field for fault in error.faults} & set(found)
            assume(wrong)
            found = {one: value for one, value in found.items() if one not in wrong}
    link = query(machine, spec)
    pairs = parse_qsl(link, keep_blank_values=True, strict_parsing=True)
    again = parse(machine, dict(pairs), "page")
    assert repr(again) == repr(spec)  # repr, since NaN is not itself
    assert repr(parse(machine, dict(pairs), "page", pasted=True)) == repr(spec)
    assert pasted_in(machine, dict(pairs)) == []  # and nobody is asked what it means
    assert query(machine, again) == link
    assert len(dict(pairs)) == len(pairs)
    assert set(link) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~,;=&%")
    written = {
        one.name for one in machine.fields if one.data and one.name in machine.given(spec) and machine.given(spec)[one.name] is not None
    }
    assert written <= dict(pairs).keys()  # data is always said, whatever the defaults become


def _typed(value):
    """A value as somebody types it."""
    frozen = tuple(tuple(row) if isinstance(row, list) else row for row in value) if isinstance(value, list) else value
    return text(frozen)


@pytest.mark.parametrize("name", list(MACHINES))
def test_the_random_specs_are_not_all_refused(name):
    machine = MACHINES[name]
    taken = []

    @settings(max_examples=40, deadline=None, database=None)
    @given(found=values(machine))
    def collect(found):
        with suppress(SpecError):
            taken.append(parse(machine, {one: _typed(value) for one, value in found.items()}, "page"))

    collect()
    assert len(taken) >= 8
