"""A snapshot as a picture: geometry here, drawing in templates/figures, so that a page and a file show the same."""

from app.figures import online

DRAWN = {"online-softmax": online.drawing}

__all__ = ["DRAWN", "online"]
