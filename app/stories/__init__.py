"""Every widget, in the order in which each builds on those before it. Navigation, routes, pictures, API, self-test and tests loop over WIDGETS."""

from app.stories import division, merge, online, passes, standard, tiled, traffic
from app.stories.record import Picture, Widget

WIDGETS: tuple[Widget, ...] = (
    passes.WIDGET, online.WIDGET, division.WIDGET, standard.WIDGET, tiled.WIDGET, merge.WIDGET, traffic.WIDGET,
)  # fmt: skip

BY_NAME: dict[str, Widget] = {one.name: one for one in WIDGETS}
PAGES: dict[str, Widget] = {one.name: one for one in WIDGETS if one.drawn}  # those that have a page
PICTURES: dict[str, Picture] = {picture.name: picture for one in WIDGETS for picture in one.drawn}
