"""The scripts' types are written from what the stories show."""

from tests.typescript import FILE, written


def test_snapshot_types_are_as_written():
    assert FILE.read_text() == written(), "run python -m tests.typescript"
