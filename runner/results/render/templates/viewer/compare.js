// Two runs: where the trajectories of a sample part, in a list and side by side.
const PARTS = ["who acts", "asked", "said", "called", "observed"];
const DONE = "What is done: who acts, which tools are called how, what they return; words where nothing is called.";
const COUNTS = [
  { value: "done", text: "what is done" },
  { value: "all", text: "every word asked and said, too" },
];

// Marks of a step: a number per part, equal where the parts are equal, 0 where there is none.
function differing(a, b, all) {
  const calls = a[3] && b[3];
  return PARTS.filter((_, n) => a[n] !== b[n] && (all || (n !== 1 && !(n === 2 && calls))));
}

function firstDifference([, a], [, b], all) {
  const common = Math.min(a.length, b.length) - 1;
  for (let n = 0; n < common; n += 1) {
    const parts = differing(a[n], b[n], all);
    if (parts.length) return { step: n, what: parts.join(", ") };
  }
  if (a.length !== b.length) return { step: common, what: "one has ended, the other continues" };
  return a.at(-1)[0] === b.at(-1)[0] ? null : { step: common, what: "how it ends" };
}

// Pairs of rows of two runs that are of one sample and epoch.
function pairs(index, one, two) {
  const key = (row) => JSON.stringify([row.sample, row.epoch]);
  const others = new Map(index.rows.filter((row) => row.run === two).map((row) => [key(row), row]));
  return index.rows.filter((row) => row.run === one && others.has(key(row))).map((row) => [row, others.get(key(row))]);
}

function purposeAt([purposes], step) {
  return purposes[step] ?? "end";
}

function pairColumns(index) {
  const where = ({ at }) => (at ? at.step + 1 : null);
  const purposes = ({ at, names }) => (at ? [...new Set(names)].join(" | ") : "");
  const kind = (row) => ({ true: "solved", false: "not solved" })[row.solved] ?? "unscored";
  const results = ({ pair }) => [...new Set(pair.map(kind))].join(" | ");
  return [
    {
      name: "sample",
      width: 230,
      value: ({ pair }) => pair[0].sample,
      cell: ({ pair }) => sampleLink(pair[0], link(index, pair[0], pair[1].run)),
    },
    {
      name: "first differs",
      unit: "at step",
      width: 100,
      number: true,
      value: where,
      cell: (one) => (one.at ? String(where(one)) : "none"),
    },
    { name: "purpose", unit: "first | second", width: 140, value: purposes, cell: purposes },
    {
      name: "what differs",
      width: 250,
      value: ({ at }) => at?.what,
      cell: ({ at }) => at?.what ?? "they go the same way",
    },
    { name: "result", unit: "first | second", width: 180, value: results, cell: results },
    {
      name: "calls",
      unit: "second - first",
      width: 105,
      number: true,
      value: ({ pair }) => pair[1].calls - pair[0].calls,
      cell: ({ pair }) => count(pair[1].calls - pair[0].calls),
    },
  ];
}

// The list over all shared samples; nothing where there is one run.
function compareList(index) {
  const runs = index.runs.map(({ label }, n) => ({ value: n, text: label }));
  const one = choice("First run", runs, () => show());
  const two = choice("Second run", runs, () => show());
  const what = choice("What counts", COUNTS, () => show());
  two.select.value = "1";
  const said = make("p", { class: "note", role: "status" });
  const rows = grid("Where two runs part", pairColumns(index));
  async function show() {
    const marks = await block("marks");
    const all = what.select.value === "all";
    const found = pairs(index, Number(one.select.value), Number(two.select.value)).map((pair) => {
      const [a, b] = pair.map((row) => marks[row.number]);
      const at = firstDifference(a, b, all);
      return { pair, at, names: at ? [purposeAt(a, at.step), purposeAt(b, at.step)] : [] };
    });
    rows.show(found);
    const same = found.filter(({ at }) => !at).length;
    said.textContent = `${plural(found.length, "shared sample")}; in ${count(same)} both go the same way. ${DONE}`;
  }
  const fields = make(
    "form",
    { class: "filters", onsubmit: (event) => event.preventDefault() },
    one.field,
    two.field,
    what.field,
  );
  const details = make(
    "details",
    { class: "pairs" },
    make("summary", {}, "Where two runs part"),
    fields,
    said,
    rows.view,
  );
  details.addEventListener("toggle", () => {
    if (details.open) show();
  });
  return index.runs.length > 1 ? [details] : [];
}

function side(steps, from, to, read) {
  return make(
    "ol",
    { class: "steps", start: from + 1 },
    steps.slice(from, to).map((step, n) => stepCard(step, from + n + 1, read)),
  );
}

// Both episodes: steps in pairs up to the first difference, then each its own way.
function bothView(index, rows, episodes, marks, all) {
  const at = firstDifference(...marks, all);
  const steps = episodes.map((episode) => episode.steps ?? []);
  const common = at ? at.step : steps[0].length;
  const cells = (fill, kind = "side") => rows.map((row, n) => make("div", { class: kind }, fill(row, episodes[n], n)));
  const together = [];
  for (let n = 0; n < common; n += 1)
    together.push(...cells((row, episode, which) => side(steps[which], n, n + 1, episode.read)));
  const where = at && steps.every((one) => at.step < one.length) ? `step ${at.step + 1}` : "after the last common step";
  const purposes = at ? [...new Set(marks.map((one) => purposeAt(one, at.step)))] : [];
  const parted = at
    ? make("p", { class: "parted", role: "note" }, `First difference: ${where} (${purposes.join(" | ")}): ${at.what}`)
    : make("p", { class: "parted same", role: "note" }, "Both go the same way to the end.");
  return [
    part("Question", textBox(episodes[0].read(episodes[0].question) || rows[0].question)),
    make(
      "div",
      { class: "both" },
      cells((row) => make("h4", {}, make("a", { href: link(index, row) }, index.runs[row.run].label)), "side head"),
      cells((row, episode) => [about(index, row), offered(episode)]),
      together,
      parted,
      at ? cells((row, episode, n) => side(steps[n], common, steps[n].length, episode.read)) : null,
      cells((row, episode) => ending(episode, row)),
      cells((row, episode) => scores(index, episode)),
      cells((row, episode) => spent(episode)),
    ),
  ];
}
