"""The sign before a result: equals only where the equation holds as it is written."""

import re
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.machines import MACHINES
from app.machines.formats import FORMATS
from app.stories.voice import SPOKEN, WRITTEN
from tests.machines.helpers import ONLINE, REPORTED, shots

EXPRESSION = re.compile(r"ℓ becomes (\S+(?: × \S+)?(?: \+ \S+(?: × \S+)?)?) (=|≈) ([^\s;.]+(?:\.\d+)?)")
SIZE = re.compile(r"exp\((\S+) − \(?(\S+?)\)?\) = (\S+?)[,;:.]?(?:\s|$)")


def number(said):
    return Fraction(said.replace("−", "-").strip("()"))


def total(said):
    return sum((number(a) * number(b or "1") for a, _, b in (part.partition(" × ") for part in said.split(" + "))), Fraction(0))


def check(run):
    for shot in run:
        for expression, sign, result in EXPRESSION.findall(shot["caption"]):
            if sign == "=" and not set("∞N×⁰") & set(result + expression.replace(" × ", "")):
                assert total(expression) == number(result), shot["caption"]
        for a, b, result in SIZE.findall(shot["caption"]):
            if not set("∞N") & set(a + b):
                assert number(a) == number(b), shot["caption"]
                assert result == "1"


@settings(deadline=None, max_examples=80, database=None)
@given(st.sampled_from(sorted(FORMATS)), st.lists(st.integers(-24, 24).map(lambda x: x / 4), min_size=1, max_size=12), st.integers(1, 3))
@example("bfloat16", [0.0] * 8 + [-0.001], 1)
@example("float8_e5m2", [0.0] * 12, 1)
@example("float8_e4m3fn", [0.0, -0.6875], 1)
def test_an_equals_sign_in_a_caption_is_an_equation(form, scores, block):
    check(shots(ONLINE, scores=tuple(scores), format=form, block=block))
    check(shots(MACHINES["merge"], scores=tuple(scores), format=form, splits=block))


def test_a_sum_that_stalls_is_not_equal():
    run = shots(ONLINE, scores=(0.0,) * 9, format="float8_e5m2")
    assert "ℓ becomes 8 + 1 ≈ 8; adding 1 rounds straight back" in run[9]["caption"]


def test_softmax_in_half_underflows():
    """As reported: the factor that float16 stores as 0 is not said to be 0."""
    expected = REPORTED["softmax-in-half-underflows"]["expected"]
    for form in ("float16", "float32"):
        shot = shots(ONLINE, scores=(0.0, 0.0, 0.0, 18.0), values=(100.0, 100.0, 100.0, 1.0), format=form)[4]
        assert (shot["event"]["alpha"], shot["state"]["l"], shot["state"]["output"]) == tuple(expected[form].values())
        lost = ", which float16 stores as 0" if form == "float16" else ""
        for said in (shot["caption"], shot["words"]["alpha"]):
            assert f"exp(0 − 18) ≈ 1.52×10⁻⁸{lost}" in said
    assert "about 1.52 times ten to the minus 8, which float32" not in shot["spoken"]


@pytest.mark.parametrize(
    ("form", "result", "operands", "written"),
    [
        ("float16", 0.0, (-1000.0,), "exp(−1000) ≈ 5.08×10⁻⁴³⁵, which float16 stores as 0"),
        ("float32", 0.0, (-3e38, 3e38), "exp(−3.00×10³⁸ − 3.00×10³⁸), which float32 stores as 0"),
        ("float8_e4m3fn", float("nan"), (7.0,), "exp(7) ≈ 1096.633, which float8_e4m3fn stores as NaN"),
        ("float8_e4m3fn", 0.5, (-0.6875,), "exp(−0.688) ≈ 0.500"),
        ("bfloat16", 1.0, (1.0, 1.001953125), "exp(1 − 1.002) ≈ 1"),
        ("float64", 0.0, (0.0, float("inf")), "exp(0 − ∞) = 0"),
        ("float64", 1.0, (2.5, 2.5), "exp(2.500 − 2.500) = 1"),
    ],
)
def test_a_size_says_what_the_format_made_of_it(form, result, operands, written):
    assert WRITTEN.size(FORMATS[form], result, *operands) == written
    assert not set("≈=×−") & set(SPOKEN.size(FORMATS[form], result, *operands))
