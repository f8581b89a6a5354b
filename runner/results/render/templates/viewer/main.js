// The viewer: a list on the page, an episode (or two) in a dialog. The address says what is open.
const PREFIX = "#episode=";

function wantedIn(hash) {
  if (!hash.startsWith(PREFIX)) return null;
  const [path, other] = hash.slice(PREFIX.length).split("&with=");
  const parts = path.split("/");
  try {
    const sample = decodeURIComponent(parts.slice(1, -1).join("/"));
    return {
      run: decodeURIComponent(parts[0]),
      sample,
      epoch: Number(parts.at(-1)),
      other: other && decodeURIComponent(other),
    };
  } catch {
    return { run: path, sample: "", epoch: 0 };
  }
}

function rowsFor(index, { run, sample, epoch, other }) {
  const of = (key) =>
    index.rows.find((row) => row.sample === sample && row.epoch === epoch && index.runs[row.run].key === key);
  return other === undefined ? [of(run)] : [of(run), of(other)];
}

function frame(close, turn) {
  const title = make("h3", { id: "episodes-title", tabindex: -1 });
  const button = (text, action) => make("button", { type: "button", onclick: action }, text);
  const tools = make("div", { class: "tools" });
  const body = make("div", { class: "body" });
  const dialog = make(
    "dialog",
    { id: "episodes-dialog", "aria-labelledby": "episodes-title" },
    make(
      "header",
      { class: "bar" },
      title,
      tools,
      button("Previous (k)", () => turn(-1)),
      button("Next (j)", () => turn(1)),
      button("Close (Esc)", close),
    ),
    body,
  );
  dialog.addEventListener("close", () => {
    if (wantedIn(location.hash)) close();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
      return;
    const by = { j: 1, k: -1 }[event.key];
    if (by) turn(by);
  });
  return { dialog, title, tools, body };
}

// What else can be done with what is open: compare it with another run, choose what counts as a difference.
function toolsFor(index, rows, again) {
  const [row, second] = rows;
  const others = index.rows.filter(
    (one) => one.run !== row.run && one.sample === row.sample && one.epoch === row.epoch,
  );
  const options = [
    { value: "", text: "no other run" },
    ...others.map((one) => ({ value: one.run, text: index.runs[one.run].label })),
  ];
  const other = choice("Compare with", options, ({ target }) => {
    location.hash = link(index, row, target.value === "" ? undefined : Number(target.value));
  });
  other.select.value = second ? second.run : "";
  const what = choice("What counts", COUNTS, ({ target }) => again(target.value === "all"));
  return [...(others.length ? [other.field] : []), ...(second ? [what.field] : [])];
}

function start(index) {
  const list = listOf(index);
  let asked = 0;
  let current = null;

  function close() {
    history.pushState(null, "", "#episodes");
    follow();
  }

  function turn(by) {
    const rows = list.rows();
    const at = rows.findIndex((row) => row === current?.[0]);
    const other = current?.[1]?.run;
    const next = rows.slice(at < 0 ? 0 : at + by)[0];
    if (at + by < 0 || !next) return;
    const shared =
      other !== undefined &&
      index.rows.some((row) => row.run === other && row.sample === next.sample && row.epoch === next.epoch);
    history.replaceState(null, "", link(index, next, shared && other !== next.run ? other : undefined));
    follow();
  }

  const window_ = frame(close, turn);

  async function fill(rows, all) {
    const episodes = await Promise.all(rows.map((row) => opened(index, row.number)));
    if (rows.length === 1) return episodeView(index, rows[0], episodes[0]);
    const marks = await block("marks");
    return bothView(
      index,
      rows,
      episodes,
      rows.map((row) => marks[row.number]),
      all,
    );
  }

  async function follow(all = false, keep = false) {
    const wanted = wantedIn(location.hash);
    const turnNumber = (asked += 1);
    if (!wanted) {
      current = null;
      window_.dialog.close();
      return;
    }
    const rows = rowsFor(index, wanted);
    const there = rows.every(Boolean);
    window_.dialog.setAttribute("aria-busy", "true");
    const body = there ? await fill(rows, all) : [make("p", {}, "This page has no such episode.")];
    if (turnNumber !== asked) return;
    current = there ? rows : null;
    window_.title.textContent = tame(
      there ? named(rows[0]) + (rows[1] ? "" : `, ${index.runs[rows[0].run].label}`) : "Not here",
    );
    if (!keep) window_.tools.replaceChildren(...(there ? toolsFor(index, rows, (every) => follow(every, true)) : []));
    window_.body.replaceChildren(...body);
    window_.dialog.classList.toggle("wide-dialog", rows.length > 1);
    if (!window_.dialog.open) {
      window_.dialog.showModal();
      window_.title.focus();
    }
    window_.body.scrollTop = 0;
    window_.body.querySelector(".parted:not(.same)")?.scrollIntoView({ block: "center" });
    window_.dialog.setAttribute("aria-busy", "false");
  }

  addEventListener("hashchange", () => follow());
  return { list, follow, elements: [...list.elements, ...compareList(index), window_.dialog] };
}

async function boot() {
  const place = document.getElementById("episodes-viewer");
  if (!window.DecompressionStream || !Map.groupBy) {
    place.textContent = "The list needs a browser of 2024 or newer.";
    return;
  }
  const index = await unpacked("index");
  index.rows.forEach((row, number) => {
    row.number = number;
  });
  const viewer = start(index);
  place.replaceChildren(...viewer.elements);
  viewer.list.show();
  place.setAttribute("aria-busy", "false");
  performance.mark("episodes-ready");
  await viewer.follow();
}

boot();
