"""What the lessons cite: threads by their kind, and the work that others did first by its authors' names."""

import re

import pytest

from app.lessons.course import LESSONS, Catalog
from tests.lessons.read import text

COURSE = Catalog()
SOURCE = {one.slug: (LESSONS / one.slug / "lesson.md").read_text() for one in COURSE.lessons}

# Read on the site of each project. A pull request is linked as one, so that nobody takes a proposal for a report.
THREADS = {
    "issues": {
        "Dao-AILab/flash-attention": {40, 145, 175, 410, 437, 622, 766, 991, 1897},
        "sgl-project/sglang": {40903},
    },
    "pull": {"flashinfer-ai/flashinfer": {4547}, "vllm-project/vllm": {28181, 28840, 52796}},
}


@pytest.mark.parametrize("slug", SOURCE)
def test_threads_are_linked_by_their_kind(slug: str) -> None:
    cited = set(re.findall(r"https://github\.com/([\w-]+/[\w-]+)/(\w+)/(\d+)", SOURCE[slug]))
    known = {(project, kind, str(n)) for kind, projects in THREADS.items() for project, numbers in projects.items() for n in numbers}
    assert cited <= known


SENTENCES = {
    # What is not mended is not said to be: the states as last read.
    "vLLM has mended it, in the pull requests 28840 and 52796": "splitting-a-row",
    "issue 40903 ), and the report was still open when last read": "splitting-a-row",
    "So was FlashInfer's pull request 4547": "splitting-a-row",
    "with both partial results empty; in vLLM, pull request 28181 mended it": "splitting-a-row",
    # Who was first.
    "Phil Tillet first suggested and wrote both": "output-accumulation",
    "Later code of FA1 shared out the queries of one text as well": "output-accumulation",
    "move the division to the very end of attention by the distributive law": "output-accumulation",
    "Jang and others had done it in 2019 under the name lazy softmax": "output-accumulation",
    "We just pick the constant 4 so that the proof works out": "output-accumulation",
    "Both peaks, the ratio and the argument stand in section 3.1": "output-accumulation",
    "59 times less extra memory for the way forward and 32 times less with the way back": "online-softmax",
    "picking the k largest scores: up to 5 times faster": "online-softmax",
}


@pytest.mark.parametrize("words", SENTENCES)
def test_credit_and_states_are_on_the_page(words: str) -> None:
    lesson = COURSE.lesson(SENTENCES[words])
    assert lesson
    assert words in text(lesson, "deep")


@pytest.mark.parametrize("slug", SOURCE)
@pytest.mark.parametrize("paper", ["2407.08608", "2603.05451"], ids=["FlashAttention-3", "FlashAttention-4"])
def test_the_newer_versions_are_named(slug: str, paper: str) -> None:
    """In the three lessons about FlashAttention; splitting a row has the fourth only, for its reference that lags."""
    assert (f"https://arxiv.org/abs/{paper}" in SOURCE[slug]) == ((slug, paper) != ("splitting-a-row", "2407.08608"))
