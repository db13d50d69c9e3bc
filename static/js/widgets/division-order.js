// Dividing first or last: all its numbers are tables that bind.js fills, so there is nothing more to draw.

import { mountAll } from "../core/widget.js";

mountAll("division-order", { draw: () => {} });
