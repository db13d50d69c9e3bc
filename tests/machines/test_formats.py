"""Each format: its limits against the known figures, its rounding against NumPy, ml_dtypes and exact fractions."""

import math
import sys
from fractions import Fraction
from functools import cache
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.machines.arithmetic import Arithmetic, Ledger
from app.machines.formats import FORMATS
from tests.machines import scalar_model as model
from tests.machines.helpers import same

quick = settings(deadline=None, max_examples=150, database=None)
names = st.sampled_from(model.FORMATS)
finite = st.floats(allow_nan=False, allow_infinity=False)

# max, ln max, largest x with a finite exp, the next x, exp there, most negative x with exp > 0, the next x, smallest x with a normal exp
LIMITS = {
    "float16": (65504, "11.0899", 11.0859375, 11.09375, "65248", -17.328125, -17.34375, -9.703125),
    "bfloat16": ("3.3895e38", "88.7189", 88.5, 89, "2.7249e38", -92.5, -93, -87.0),
    "float32": (
        "3.4028e38", "88.7228391", 88.72283172607422, 88.72283935546875, "3.40280e38",
        -103.97207641601562, -103.97208404541016, -87.33654022216797,
    ),
    "float64": (
        "1.7977e308", "709.782712893384", 709.782712893384, 709.7827128933841, "1.79769e308",
        -745.1332191019411, -745.1332191019412, -708.3964185322641,
    ),
    "float8_e4m3fn": (448, "6.1048", 6.0, 6.5, "416", -6.5, -7, -4.0),
    "float8_e5m2": (57344, "10.9568", 10.0, 12, "20480", -10.0, -12, -8.0),
}  # fmt: skip
EXP2_LIMITS = {
    "float16": (15.9921875, -24.984375),
    "bfloat16": (127.5, -133),
    "float8_e4m3fn": (8.0, -9),
    "float8_e5m2": (14.0, -16),
}
ONES_STALL = {"bfloat16": 256, "float16": 2048, "float8_e4m3fn": 16, "float8_e5m2": 8, "float32": 16777216, "float64": 2**53}
SHORT = [name for name in model.FORMATS if name not in ("float32", "float64")]


def quoted(x, figure):
    """Whether x is what the figure says, to the digits that the figure has."""
    if not isinstance(figure, str):
        return x == figure
    digits = len(figure.split("e")[0].replace(".", "").lstrip("0"))
    return float(f"{x:.{digits - 1}e}") == float(figure)


@cache
def every_number(name):
    """Every finite number of a format of 8 or 16 bits, lowest first, one zero."""
    kind, bits = model.TYPES[name]
    patterns = np.arange(2 ** (8 * np.dtype(bits).itemsize)).astype(bits)
    with np.errstate(invalid="ignore"):
        found = patterns.view(kind).astype(np.float64)
    return np.unique(found[np.isfinite(found)] + 0.0).tolist()


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_the_known_figures(name):
    form = FORMATS[name]
    most, ln_max, limit, past_limit, exp_there, least, past_least, normal = LIMITS[name]
    assert quoted(form.max, most)
    assert quoted(math.log(form.max), ln_max)
    assert form.exp_limit == limit
    assert form.next_up(limit) == past_limit
    assert quoted(form.exp(limit), exp_there)
    assert same(form.exp(past_limit), math.inf if form.infinite else math.nan)
    assert form.exp_vanishes == least
    assert form.next_down(least) == past_least
    assert form.exp(least) > 0 == form.exp(past_least)
    assert form.exp_normal == normal
    assert form.exp(normal) >= form.smallest_normal > form.exp(form.next_down(normal))


@pytest.mark.parametrize("name", EXP2_LIMITS)
def test_two_to_the_x_ends_where_the_figures_say(name):
    """No machine uses exp2; the figures test rounding and neighbours at the ends of the range."""
    form, (most, least) = FORMATS[name], EXP2_LIMITS[name]
    assert math.isfinite(form.round(2.0**most))
    assert not math.isfinite(form.round(2.0 ** form.next_up(most)))
    assert form.round(2.0**least) > 0 == form.round(2.0 ** form.next_down(least))


@pytest.mark.parametrize("name", ONES_STALL)
def test_a_sum_of_ones_stalls_where_the_figures_say(name):
    form, stall = FORMATS[name], ONES_STALL[name]
    assert form.ones_stall == stall
    assert form.round(stall + 1.0) == stall > form.next_down(stall)
    if stall <= 2048:
        one_by_one = 0.0
        for _ in range(2 * stall):
            one_by_one = form.round(one_by_one + 1.0)
        assert one_by_one == stall


@pytest.mark.parametrize("name", model.FORMATS)
def test_descriptions_agree_with_the_libraries(name):
    form, told = FORMATS[name], ml_dtypes.finfo(model.TYPES[name][0])
    assert form.smallest_subnormal == float(told.smallest_subnormal)
    assert form.smallest_normal == float(told.smallest_normal)
    assert 2 * form.unit_roundoff == float(told.eps)
    assert (form.digits, form.emin, form.max, form.bits) == (told.nmant + 1, told.minexp, float(told.max), told.bits)
    assert form.infinite == (name not in model.WITHOUT_INFINITY)


@pytest.mark.parametrize("name", SHORT)
def test_every_number_rounds_to_itself_and_every_midpoint_to_even(name):
    form, numbers = FORMATS[name], every_number(name)
    zero = numbers.index(0.0)
    for i, (low, high) in enumerate(pairwise(numbers)):
        even = high if (i - zero) % 2 else low  # from zero on, bit patterns count upwards
        middle = (low + high) / 2
        assert form.round(low) == low
        assert form.round(middle) == even
        assert form.round(math.nextafter(middle, math.inf)) == high
        assert form.round(math.nextafter(middle, -math.inf)) == low
        assert form.next_up(low) == high
        assert form.next_down(high) == low
    assert form.round(form.max) == form.max == numbers[-1]


@quick
@given(names, finite)
@example("bfloat16", 1 + 2**-8 + 2**-40)
@example("float16", 65520.0)
@example("float16", math.nextafter(65520.0, 0))
@example("float8_e4m3fn", 464.0)
@example("float8_e4m3fn", math.nextafter(464.0, 500))
def test_rounding_is_exact_to_nearest_even(name, x):
    assert same(model.rounded(name, Fraction(x)), FORMATS[name].round(x))


@quick
@given(names, st.integers(-(2**60), 2**60), st.integers(-1140, 70), st.integers(-2, 2))
def test_rounding_is_exact_around_ties_and_subnormals(name, digits, exponent, nudge):
    """Numbers built from whole digits fall on ties and below the normal range far more often than floats at large."""
    form = FORMATS[name]
    x = math.ldexp(float(digits >> 50), max(exponent, form.emin - form.digits - 6))
    for _ in range(abs(nudge)):
        x = math.nextafter(x, math.copysign(math.inf, nudge))
    assert same(model.rounded(name, Fraction(x)), form.round(x))


@pytest.mark.parametrize("name", model.FORMATS)
def test_the_largest_float64_overflows_like_any_other(name):
    """2**1024 is not a float64, so a rounding that forms it on the way cannot be used up here."""
    form = FORMATS[name]
    if name == "float64":
        assert form.round(sys.float_info.max) == sys.float_info.max
    else:
        assert same(form.round(sys.float_info.max), model.infinity(name))
        assert same(form.round(-sys.float_info.max), -model.infinity(name))


@quick
@given(st.sampled_from(["float16", "float32"]), st.floats(width=64))
def test_numpy_casts_agree(name, x):
    with np.errstate(over="ignore"):
        assert same(float(model.TYPES[name][0](x)), FORMATS[name].round(x))


@quick
@given(st.sampled_from(SHORT), st.floats(width=32))
def test_ml_dtypes_casts_from_float32_agree(name, x):
    """From float32 ml_dtypes rounds once; only from float64 does it round twice."""
    with np.errstate(over="ignore", invalid="ignore"):
        assert same(float(np.float32(x).astype(model.TYPES[name][0])), FORMATS[name].round(x))


def test_one_rounding_where_the_library_rounds_twice():
    x = 1 + 2**-8 + 2**-40
    assert float(ml_dtypes.bfloat16(x)) == 1.0
    assert FORMATS["bfloat16"].round(x) == 1.0078125 == model.rounded("bfloat16", Fraction(x))


@pytest.mark.parametrize("name", [name for name in SHORT if name != "float16"])
@quick
@given(st.data())
def test_one_rounding_just_beside_any_tie(name, data):
    """The trap as a class: a tie plus something that float32 cannot see."""
    form, numbers = FORMATS[name], every_number(name)
    low = data.draw(st.sampled_from(numbers[:-1]).filter(lambda x: abs(x) >= form.smallest_normal))
    high = form.next_up(low)
    side = data.draw(st.sampled_from([1, -1]))
    middle = (low + high) / 2
    beside = middle + side * abs(middle) * 2.0 ** -data.draw(st.integers(28, 50))
    assert form.round(beside) == (high if side > 0 else low)


def test_e4m3fn_has_no_infinity():
    form = FORMATS["float8_e4m3fn"]
    assert form.round(464.0) == 448.0
    assert form.round(-464.0) == -448.0
    for x in (465.0, -465.0, 500.0, 1e30, math.inf, -math.inf, math.nan):
        assert math.isnan(form.round(x))
    assert math.isnan(form.exp(math.inf))
    assert form.exp(-math.inf) == 0


def test_e5m2_and_float16_overflow_to_infinity_from_half_a_step_past_the_largest():
    assert FORMATS["float8_e5m2"].round(61440.0) == math.inf
    assert FORMATS["float8_e5m2"].round(60000.0) == 57344.0
    assert FORMATS["float16"].round(-65520.0) == -math.inf
    assert FORMATS["float16"].round(65519.999) == 65504.0


@pytest.mark.parametrize("name", model.FORMATS)
def test_subnormals(name):
    form = FORMATS[name]
    least = form.smallest_subnormal
    assert form.round(least) == least
    if name != "float64":
        assert form.round(least / 2) == 0  # a tie, and 0 is even
        assert form.round(math.nextafter(least / 2, 1)) == least
        assert form.round(1.5 * least) == 2 * least
    assert form.next_up(0.0) == least
    assert form.next_down(least) == 0
    assert form.next_up(form.next_down(form.smallest_normal)) == form.smallest_normal


@pytest.mark.parametrize("name", model.FORMATS)
def test_the_sign_of_zero_is_kept(name):
    form = FORMATS[name]
    assert math.copysign(1, form.round(-0.0)) == -1
    assert math.copysign(1, form.round(0.0)) == 1
    if name != "float64":
        assert math.copysign(1, form.round(-form.smallest_subnormal / 4)) == -1


@quick
@given(names, finite)
def test_neighbours_are_inverse_and_on_their_side(name, x):
    form = FORMATS[name]
    x = model.cast(name, x)
    if math.isfinite(x) and abs(x) < form.max:
        assert form.next_down(x) < x < form.next_up(x)
        assert form.next_up(form.next_down(x)) == x == form.next_down(form.next_up(x))
        assert form.round(form.next_up(x)) == form.next_up(x)


@quick
@given(names, finite, finite)
def test_rounding_and_neighbours_never_change_an_order(name, x, y):
    form = FORMATS[name]
    (low, a), (high, b) = sorted((x, form.round(x)) for x in (x, y))
    if math.isfinite(a) and math.isfinite(b):
        assert a <= b
        if low < high and a < b:
            assert a < form.next_up(a) <= b
            assert a <= form.next_down(b) < b


@pytest.mark.parametrize("name", model.FORMATS)
def test_beyond_the_largest_lies_no_number(name):
    form = FORMATS[name]
    assert same(form.next_up(form.max), math.inf if form.infinite else math.nan)
    assert same(form.next_down(-form.max), -math.inf if form.infinite else math.nan)


@quick
@given(names, st.floats(-800, 800))
def test_exp_and_log_are_float64s_rounded_once(name, x):
    form = FORMATS[name]
    assert same(model.exp(name, x), form.exp(x))
    assert same(model.log(name, abs(x)), form.log(abs(x)))


def in_format(name):
    """Finite numbers of one format, often small whole ones."""
    whole = st.integers(-300, 300).map(float)
    return st.one_of(whole, st.floats(-1e6, 1e6), finite).map(lambda x: model.cast(name, x)).filter(math.isfinite)


@pytest.mark.parametrize("name", model.FORMATS)
@quick
@given(st.data())
def test_operations_are_the_formats_own(name, data):
    """+ − × ÷ against the library's scalars of that format, which are right for two numbers of it, and against exact fractions."""
    kind, one = model.TYPES[name][0], Arithmetic(FORMATS[name])
    a, b = data.draw(in_format(name)), data.draw(in_format(name))
    with np.errstate(all="ignore"):
        assert same(float(kind(a) + kind(b)), one.add(a, b))
        assert same(float(kind(a) - kind(b)), one.sub(a, b))
        assert same(float(kind(a) * kind(b)), one.mul(a, b))
        if b or model.infinity(name) == math.inf:  # ml_dtypes' float8 without infinity makes x / 0 what it likes
            assert same(float(kind(a) / kind(b)), one.div(a, b))
    assert same(model.add(name, a, b), one.add(a, b))
    assert same(model.multiply(name, a, b), one.mul(a, b))
    if b:
        assert same(model.divide(name, a, b), one.div(a, b))


def test_division_by_zero_and_the_maximum_of_nan():
    """Python raises at the first and orders the second by position; the machine must do neither."""
    single, none = Arithmetic(FORMATS["float32"]), Arithmetic(FORMATS["float8_e4m3fn"])
    assert (single.div(1.0, 0.0), single.div(-1.0, 0.0), single.div(1.0, -0.0)) == (math.inf, -math.inf, -math.inf)
    assert math.isnan(single.div(0.0, 0.0))
    assert math.isnan(none.div(1.0, 0.0))
    for a, b in ((math.nan, 1.0), (1.0, math.nan), (math.nan, -math.inf), (-math.inf, math.nan)):
        assert math.isnan(single.max(a, b))
    assert single.max(-math.inf, 2.0) == 2.0 == single.max(2.0, -math.inf)


def test_operations_count_themselves():
    single = Arithmetic(FORMATS["float32"])
    single.add(1.0, single.sub(2.0, single.mul(3.0, single.div(4.0, single.exp(single.max(0.0, 1.0))))))
    assert single.ops == {"add": 2, "mul": 1, "div": 1, "exp": 1, "max": 1}
    other = Arithmetic(FORMATS["float16"], single.ops)
    other.add(1.0, 1.0)
    assert single.ops["add"] == 3


def test_ledgers_add_up_but_what_is_kept_is_the_latest():
    total = Ledger(1, 2, 3, 4, 5, 6, 7, 8) + Ledger(10, 20, 30, 40, 50, 60, 70, 80)
    assert total == Ledger(11, 22, 30, 44, 55, 66, 77, 88)


# The same for arrays


@quick
@given(names, st.lists(st.floats(), min_size=1, max_size=40))
@example("bfloat16", [1 + 2**-8 + 2**-40, sys.float_info.max, -sys.float_info.max, math.inf, -math.inf, math.nan, -0.0, 5e-324])
@example("float8_e4m3fn", [464.0, 465.0, -464.0, -465.0, -math.inf, 2.0**-10, 3 * 2.0**-10, -0.0])
@example("float16", [65519.999, 65520.0, 2.0**-25, 1.5 * 2.0**-24, -(2.0**-26)])
def test_arrays_are_rounded_as_their_elements(name, xs):
    form = FORMATS[name]
    got = form.round_array(np.array(xs)).tolist()
    assert same([form.round(x) for x in xs], got)
    assert [math.copysign(1, x) for x in got if x == 0] == [math.copysign(1, x) for x in xs if form.round(x) == 0]


@pytest.mark.parametrize("name", SHORT)
def test_every_midpoint_in_an_array_rounds_as_alone(name):
    form, numbers = FORMATS[name], np.array(every_number(name))
    middles = (numbers[1:] + numbers[:-1]) / 2
    beside = np.concatenate([middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)])
    assert form.round_array(numbers).tolist() == numbers.tolist()
    assert form.round_array(beside).tolist() == [form.round(x) for x in beside.tolist()]


@quick
@given(names, st.lists(st.floats(-800, 800), min_size=1, max_size=40))
def test_exp_of_an_array_is_exp_of_its_elements(name, xs):
    """Exactly in the short formats; in float64, where NumPy's exp and the C library's may differ, within one ulp."""
    form = FORMATS[name]
    got = form.exp_array(np.array(xs)).tolist()
    for x, a in zip(xs, got, strict=True):
        b = form.exp(x)
        assert same(a, b) or (name == "float64" and abs(a - b) <= math.ulp(max(a, b)))
