// The list of all episodes and what narrows it.
const STOPS = ["error", "failed", "limit", "refused", "answered"];

const SOLVED = "solved: the score that decides is what a perfect agent reaches";

function link(index, row, other) {
  const parts = [index.runs[row.run].key, row.sample, row.epoch].map(encodeURIComponent).join("/");
  return `#episode=${parts}${other === undefined ? "" : `&with=${encodeURIComponent(index.runs[other].key)}`}`;
}

function named(row) {
  return row.epoch ? `${row.sample} (${row.epoch})` : row.sample;
}

// Names of samples begin alike; of a long one both ends are shown.
function sampleLink(row, href) {
  const name = named(row);
  const short = name.length > 23 ? `${name.slice(0, 4)}…${name.slice(-17)}` : name;
  return make("a", { href, title: tame(name), "aria-label": tame(name) }, short);
}

function outcome(row) {
  return row.kind ? `${row.stop}: ${row.kind}` : row.stop;
}

function mark(row) {
  const [sign, text] = { true: ["✓", "solved"], false: ["✗", "not solved"] }[row.solved] ?? ["–", "unscored"];
  return make("span", { class: text.replace(" ", "-"), role: "img", "aria-label": text, title: text }, sign);
}

function columnsOf(index, shownScore) {
  const several = index.runs.length > 1;
  const score = (row) => row.scores[shownScore()];
  const longest = Math.max(...index.runs.map((run) => run.label.length));
  const columns = [
    {
      name: "sample",
      width: several ? 195 : 250,
      value: (row) => row.sample,
      cell: (row) => sampleLink(row, link(index, row)),
    },
    several && {
      name: "run",
      width: Math.min(Math.max(150, 24 + 7.4 * longest), 260),
      value: (row) => index.runs[row.run].label,
      cell: (row) => index.runs[row.run].label,
    },
    {
      name: "end",
      width: 120,
      value: outcome,
      cell: (row) =>
        make(
          "span",
          { class: STOPS.indexOf(row.stop) < 3 ? "failure" : undefined, title: tame(outcome(row)) },
          row.kind || row.stop,
        ),
    },
    { name: "solved", width: 62, value: (row) => (row.solved === null ? null : String(row.solved)), cell: mark },
    { name: "score", width: 60, number: true, value: score, cell: (row) => digits(score(row)) },
    { name: "calls", width: 58, number: true, value: (row) => row.calls, cell: (row) => count(row.calls) },
    { name: "tokens", width: 76, number: true, value: (row) => row.tokens, cell: (row) => count(row.tokens) },
    {
      name: "cost",
      unit: "USD",
      width: 66,
      number: true,
      value: (row) => row.cost,
      cell: (row) => (row.cost === null ? "-" : row.cost ? row.cost.toPrecision(2) : "0"),
    },
    {
      name: "time",
      unit: "s",
      width: 58,
      number: true,
      value: (row) => row.seconds,
      cell: (row) => row.seconds.toFixed(1),
    },
    {
      name: "question",
      width: several ? 210 : 300,
      value: (row) => row.question,
      cell: (row) => (row.question.startsWith("…") ? `…${row.question.slice(-160)}` : row.question.slice(0, 400)),
    },
    { name: "strata", width: 230, value: strataOf, cell: strataOf },
  ];
  return columns.filter(Boolean);
}

function strataOf(row) {
  return row.strata.filter((value) => value !== null).join(", ");
}

// A function per filter that says whether a row stays.
function filtersOf(index, change) {
  const all = { value: "", text: "all" };
  const values = (read) => [...new Set(index.rows.map(read))].filter((value) => value !== null);
  const ends = STOPS.flatMap((stop) => {
    const kinds = new Set(index.rows.filter((row) => row.stop === stop).map((row) => row.kind));
    const single = [...kinds]
      .filter(Boolean)
      .sort()
      .map((kind) => ({ value: JSON.stringify([stop, kind]), text: `${stop}: ${kind}` }));
    return kinds.size ? [{ value: JSON.stringify([stop]), text: stop }, ...single] : [];
  });
  const strata = index.strata.flatMap((group, n) => {
    const found = values((row) => row.strata[n]).sort(new Intl.Collator("en", { numeric: true }).compare);
    return found.length > 1 ? found.map((value) => ({ group, value: JSON.stringify([n, value]), text: value })) : [];
  });
  const run = choice("Run", [all, ...index.runs.map(({ label }, n) => ({ value: n, text: label }))], change);
  const end = choice("End", [all, { value: "[]", text: "any failure" }, ...ends], change);
  const solved = choice(
    "Result",
    [
      all,
      { value: "true", text: "solved" },
      { value: "false", text: "not solved" },
      { value: "null", text: "unscored" },
    ],
    change,
  );
  const stratum = choice("Stratum", [all, ...strata], change);
  const words = make("input", { type: "search", oninput: change, placeholder: "in samples, questions and answers" });
  const score = choice(
    "Score shown",
    index.signed.map((name, n) => ({ value: n, text: name })),
    change,
  );
  const fields = [
    run.field,
    end.field,
    solved.field,
    stratum.field,
    score.field,
    make("label", { class: "words" }, make("span", {}, "Text"), words),
  ];
  return { fields, score: () => Number(score.select.value), keeps: () => keeping(run, end, solved, stratum, words) };
}

function keeping(run, end, solved, stratum, words) {
  const [stop, kind] = end.select.value ? JSON.parse(end.select.value) : [];
  const [place, value] = stratum.select.value ? JSON.parse(stratum.select.value) : [];
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const ended = (row) =>
    end.select.value === "[]"
      ? STOPS.indexOf(row.stop) < 3
      : (!stop || row.stop === stop) && (kind === undefined || row.kind === kind);
  return (row) =>
    (run.select.value === "" || row.run === Number(run.select.value)) &&
    ended(row) &&
    (solved.select.value === "" || String(row.solved) === solved.select.value) &&
    (place === undefined || row.strata[place] === value) &&
    wanted.every((word) => row.found.includes(word));
}

function listOf(index) {
  for (const row of index.rows) row.found = `${row.sample}\n${row.question}\n${row.answer}`.toLowerCase();
  const said = make("p", { class: "note", role: "status" });
  const filters = filtersOf(index, () => show());
  const rows = grid("Episodes", columnsOf(index, filters.score));
  function show() {
    rows.show(index.rows.filter(filters.keeps()));
    said.textContent = `${count(rows.rows.length)} of ${count(index.rows.length)} episodes; ${SOLVED}`;
  }
  return {
    elements: [
      make("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, filters.fields),
      said,
      rows.view,
    ],
    show,
    rows: () => rows.rows,
  };
}
