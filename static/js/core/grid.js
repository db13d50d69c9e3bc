// Tables that are moved through with the arrow keys: one stop for Tab, then cell by cell (the ARIA grid pattern).

const STEPS = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] });

/**
 * @param {HTMLElement} root
 * @param {(cell: HTMLElement | null) => void} chosen  called with the cell that is focused or pointed at, and with null after
 */
export function grids(root, chosen) {
  const cellOf = (/** @type {EventTarget | null} */ target) => /** @type {HTMLElement | null} */ (/** @type {Element} */ (target)?.closest?.('[role="grid"] td') ?? null);
  root.addEventListener("focusin", (event) => {
    const cell = cellOf(event.target);
    if (cell) {
      stop(cell);
      chosen(cell);
    }
  });
  root.addEventListener("focusout", (event) => cellOf(event.target) && !cellOf(event.relatedTarget) && chosen(null));
  root.addEventListener("pointerover", (event) => cellOf(event.target) && chosen(cellOf(event.target)));
  root.addEventListener("pointerout", (event) => cellOf(event.target) && !cellOf(event.relatedTarget) && chosen(cellOf(document.activeElement)));
  root.addEventListener("keydown", (event) => {
    const cell = cellOf(event.target);
    if (!cell || event.ctrlKey || event.metaKey || event.altKey || root.dataset.keys === "0") return;
    const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
    const table = /** @type {HTMLTableElement} */ (cell.closest("table"));
    const cells = (/** @type {Element} */ of) => [...of.querySelectorAll("td")];
    const rows = [...table.tBodies[0].rows];
    const [r, c] = [rows.indexOf(row), cells(row).indexOf(/** @type {HTMLTableCellElement} */ (cell))];
    let to;
    if (event.key in STEPS) {
      const [down, right] = STEPS[event.key];
      to = cells(rows[r + down] ?? row)[c + right];
    } else if (event.key === "Home") to = cells(row)[0];
    else if (event.key === "End") to = cells(row).at(-1);
    else return;
    event.preventDefault();
    to?.focus();
  }, true);
}

/** Make a cell the one that Tab stops at in its table. @param {HTMLElement} cell */
function stop(cell) {
  for (const old of cell.closest("table")?.querySelectorAll('td[tabindex="0"]') ?? []) old.setAttribute("tabindex", "-1");
  cell.setAttribute("tabindex", "0");
}
