// A table of thousands of rows, of which only those in view exist. Heads sort; what has no value stays at the end.
const ROW = 30;
const SPARE = 12;

function grid(label, columns) {
  const body = make("tbody");
  const heads = columns.map((column) => head(column));
  const element = make(
    "table",
    { class: "grid", "aria-label": label },
    make(
      "colgroup",
      {},
      columns.map((column) => make("col", { style: `width:${column.width}px` })),
    ),
    make("thead", {}, make("tr", { "aria-rowindex": 1 }, heads)),
    body,
  );
  element.style.minWidth = `${columns.reduce((sum, column) => sum + column.width, 0)}px`;
  const view = make("div", { class: "grid-view", tabindex: 0, role: "group", "aria-label": `${label}, scrolls` }, element);
  const self = { view, rows: [], order: null };
  let drawn = "";

  function head(column) {
    const button = make("button", { type: "button", onclick: () => sortBy(column) }, column.name);
    if (column.unit) button.append(make("small", {}, column.unit));
    return make("th", { scope: "col", class: column.number ? "n" : undefined }, button);
  }

  function sortBy(column) {
    const turned = self.order?.column === column ? -self.order.sign : column.number ? -1 : 1;
    self.order = { column, sign: turned };
    heads.forEach((one, n) => {
      if (columns[n] === column) one.setAttribute("aria-sort", turned === 1 ? "ascending" : "descending");
      else one.removeAttribute("aria-sort");
    });
    self.show(self.rows);
  }

  function sorted(rows) {
    if (!self.order) return rows;
    const { column, sign } = self.order;
    const keyed = rows.map((row) => [column.value(row) ?? null, row]);
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (column.number ? a - b : compare(a, b));
    });
    return keyed.map(([, row]) => row);
  }

  function draw(again) {
    const first = Math.max(0, Math.floor(view.scrollTop / ROW) - SPARE);
    const last = Math.min(self.rows.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW) + SPARE);
    if (!again && drawn === `${first}-${last}`) return;
    drawn = `${first}-${last}`;
    const focused = document.activeElement?.closest?.("tr[aria-rowindex]")?.getAttribute("aria-rowindex");
    const space = (rows) => make("tr", { "aria-hidden": "true", class: "space", style: `height:${rows * ROW}px` });
    body.replaceChildren(
      space(first),
      ...self.rows.slice(first, last).map((row, n) => line(row, first + n)),
      space(self.rows.length - last),
    );
    if (focused && view.contains(document.activeElement) === false)
      body.querySelector(`tr[aria-rowindex="${focused}"] a`)?.focus({ preventScroll: true });
  }

  function line(row, number) {
    return make(
      "tr",
      { "aria-rowindex": number + 2 },
      columns.map((column) => {
        const shown = column.cell(row);
        const title = typeof shown === "string" ? tame(shown).slice(0, 400) : undefined;
        return make("td", { class: column.number ? "n" : undefined, title }, shown);
      }),
    );
  }

  self.show = (rows) => {
    self.rows = sorted(rows);
    element.setAttribute("aria-rowcount", self.rows.length + 1);
    view.scrollTop = 0;
    draw(true);
  };
  view.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)), { passive: true });
  new ResizeObserver(() => draw(false)).observe(view);
  return self;
}
