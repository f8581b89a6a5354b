// Elements. Texts of data become text nodes and nothing else; what would be obeyed or not be seen is written out.
const SHOWN = 20_000;
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function written(letter) {
  const code = letter.codePointAt(0).toString(16);
  return code.length < 3 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
}

function tame(text) {
  return String(text).replaceAll("\r\n", "\n").replace(UNSEEN, written);
}

function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  const nodes = children.flat().filter((child) => child !== null && child !== undefined && child !== "");
  element.append(...nodes.map((child) => (child instanceof Node ? child : tame(child))));
  return element;
}

// A text as it was written; of a long one the beginning, the rest when asked for.
function textBox(text, kind = "") {
  const box = make("pre", { class: kind, dir: "auto" }, text.slice(0, SHOWN));
  if (text.length <= SHOWN) return box;
  const rest = text.slice(SHOWN);
  const more = make("button", { type: "button", class: "more" }, `Show the other ${count(rest.length)} characters`);
  more.addEventListener("click", () => {
    box.append(tame(rest));
    more.remove();
  });
  return make("div", {}, box, more);
}

// What is folded is made when it is opened first.
function fold(title, fill) {
  const details = make("details", {}, make("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...[fill()].flat());
  });
  return details;
}

function choice(label, options, change) {
  const select = make("select", { onchange: change });
  for (const { group, value, text } of options) {
    const option = make("option", { value }, text);
    if (!group) select.append(option);
    else {
      const last = select.lastElementChild;
      const place = last?.label === tame(group) ? last : select.appendChild(make("optgroup", { label: tame(group) }));
      place.append(option);
    }
  }
  return { select, field: make("label", {}, make("span", {}, label), select) };
}

function table(heads, rows) {
  const head = make(
    "thead",
    {},
    make(
      "tr",
      {},
      heads.map(({ name, number }) => make("th", { scope: "col", class: number ? "n" : undefined }, name)),
    ),
  );
  const cell = (value, n) => make("td", { class: heads[n].number ? "n" : undefined }, value);
  return make(
    "div",
    { class: "wide" },
    make(
      "table",
      {},
      head,
      make(
        "tbody",
        {},
        rows.map((row) => make("tr", {}, row.map(cell))),
      ),
    ),
  );
}

const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const count = (value) => (value === null || value === undefined ? "-" : value.toLocaleString("en"));
const digits = (value) =>
  value === null || value === undefined ? "-" : Number.isInteger(value) ? String(value) : value.toFixed(4);
const dollars = (value) =>
  value === null || value === undefined ? "not known" : `$${value === 0 ? "0" : value.toPrecision(3)}`;
