"use strict";
// Tables: a click on a head sorts by it, numbers by their value; what has none stays at the end.
for (const table of document.querySelectorAll("main table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const rows = [...table.tBodies[0].rows];
    const numeric = rows.some((row) => row.cells[column].dataset.v !== undefined);
    const way = head.querySelector(".way")?.title ?? "";
    const first = way.startsWith("higher") ? "descending" : "ascending";
    const other = { ascending: "descending", descending: "ascending" };
    const order = other[head.getAttribute("aria-sort")] ?? first;
    const sign = order === "ascending" ? 1 : -1;
    const value = (row) => {
      const cell = row.cells[column];
      if (numeric) return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
      return cell.textContent;
    };
    const keyed = rows.map((row) => [value(row), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
    });
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  }));
}

// Scores that are not chosen are hidden: their columns, rows and figures.
const chosen = document.getElementById("scores");
if (chosen) {
  chosen.hidden = false;
  chosen.addEventListener("change", () => {
    const off = new Set([...chosen.querySelectorAll("input:not(:checked)")].map((box) => box.value));
    for (const one of document.querySelectorAll("main :is(tr, figure)[data-score]")) one.hidden = off.has(one.dataset.score);
    for (const head of document.querySelectorAll("main th[data-score]"))
      for (const row of head.closest("table").rows) row.cells[head.cellIndex].hidden = off.has(head.dataset.score);
  });
}

// Light and dark: as the system has it, until the button is used.
document.getElementById("theme").addEventListener("click", () => {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
});

// The navigation shows where one is.
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const sections = [...document.querySelectorAll("main > section")];
const mark = () => {
  const passed = sections.filter((section) => section.getBoundingClientRect().top < 160);
  const here = (passed.at(-1) ?? sections[0])?.id;
  for (const [id, link] of links) link.classList.toggle("here", id === here);
};
addEventListener("scroll", mark, { passive: true });
mark();
