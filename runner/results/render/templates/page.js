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

// Plots: drawn when they come near the view, in the page's colours.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7ae6", "#7f8c8d"];
const themed = () => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { title: { font: { size: 13 }, standoff: 10 }, gridcolor: colour("--line"), linecolor: colour("--line"), zerolinecolor: colour("--line") };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", colorway: COLOURS,
    font: { color: colour("--text"), size: 13, family: getComputedStyle(document.body).fontFamily },
    margin: { l: 60, r: 20, t: 30, b: 60 }, hoverlabel: { namelength: -1 }, axis,
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--quiet"), activecolor: colour("--accent") },
  };
};
const SHADES = {
  light: { colorscale: [[0, "#f2f6fa"], [0.5, "#6aaed6"], [1, "#08519c"]] },
  dark: { colorscale: [[0, "#1d2833"], [1, "#2f7fbf"]], textfont: { color: "#ffffff" } },
};
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
const BUTTONS = [["toImage", "zoom2d", "pan2d", "resetScale2d"]];
const side = (axis, own = {}) => ({ ...axis, ...own, title: { ...axis.title, ...own.title } });
const drawn = new Set();
const draw = (place) => {
  const { data, layout } = JSON.parse(document.getElementById(place.dataset.of).textContent);
  const { axis, ...base } = themed();
  const full = { ...base, ...layout, xaxis: side(axis, layout.xaxis), yaxis: side(axis, layout.yaxis) };
  for (const trace of data) {
    if (trace.type === "heatmap") Object.assign(trace, SHADES[isDark() ? "dark" : "light"]);
    if (trace.type === "bar") trace.error_y = { ...trace.error_y, color: full.font.color };
  }
  drawn.add(place);
  return Plotly.react(place, data, full, { responsive: true, displaylogo: false, modeBarButtons: BUTTONS });
};
const places = [...document.querySelectorAll(".plot")];
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) {
      near.unobserve(entry.target);
      draw(entry.target);
    }
  }
}, { rootMargin: "300px" });
for (const place of places) near.observe(place);
addEventListener("beforeprint", () => { for (const place of places) if (!drawn.has(place)) draw(place); });

// Light and dark: as the system has it, until the button is used.
const redraw = () => { for (const place of drawn) draw(place); };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
document.getElementById("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  redraw();
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
