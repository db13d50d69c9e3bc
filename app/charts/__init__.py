"""Charts as data: marks with a role, a place now and before, a label; how each role looks; the drawing of them as SVG. Knows no machine."""
