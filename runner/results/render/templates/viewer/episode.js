// One episode, from the question to what it cost.
function part(title, ...children) {
  return make("section", { class: "part" }, make("h4", {}, title), ...children);
}

function call([name, given], read) {
  return make("div", { class: "call" }, make("strong", {}, name), textBox(read(given)));
}

function observed(one, how, read) {
  const after = one.error ? make("div", { class: "wrong" }, one.error) : null;
  return make(
    "div",
    { class: how === "tried" ? "seen tried" : "seen" },
    make(
      "h5",
      {},
      how === "tried" ? "tried, not committed" : one.control ? "control" : "called",
      one.seconds ? ` (${one.seconds} s)` : "",
    ),
    call(one.call, read),
    after,
    make("h5", {}, "observed"),
    textBox(read(one.text)),
    (one.faults ?? []).map((fault) => make("div", { class: "wrong" }, `fault: ${read(fault)}`)),
  );
}

function asked(step, read) {
  const before = step.kept ? `, after the ${step.kept} before` : "";
  const messages = step.asked ?? [];
  return fold(`asked: ${plural(messages.length, "message")}${before}`, () =>
    messages.map((one) =>
      make(
        "div",
        {},
        make("h5", {}, one.role, one.source ? ` from ${one.source}` : ""),
        one.thought ? textBox(read(one.thought), "thought") : null,
        textBox(read(one.text)),
        (one.calls ?? []).map((each) => call(each, read)),
      ),
    ),
  );
}

function headOf(step, number) {
  const used = step.usage ?? [];
  const words = [
    step.branch,
    step.purpose,
    step.role && `role ${step.role}`,
    step.aside && "not chosen",
    step.finish && step.finish !== "tool_calls" && `ended by ${step.finish}`,
  ];
  return make(
    "header",
    {},
    make("b", {}, String(number)),
    make("span", { class: "purpose" }, words.filter(Boolean).join(" · ")),
    step.label ? make("span", {}, step.label) : null,
    make(
      "span",
      { class: "spent" },
      `${count(used[0])} + ${count(used[1])} tokens, ${dollars(used[2])}, ${step.seconds ?? 0} s`,
    ),
  );
}

function stepCard(step, number, read) {
  const reply = step.reply ?? {};
  const said = read(reply.text);
  const silent = !said && !step.observed && !step.tried && !reply.calls;
  return make(
    "li",
    { class: ["step", step.aside && "aside", step.branch !== "main" && "branched"].filter(Boolean).join(" ") },
    headOf(step, number),
    asked(step, read),
    reply.thought ? [make("h5", {}, "thought"), textBox(read(reply.thought), "thought")] : null,
    said ? [make("h5", {}, "said"), textBox(said)] : silent ? make("p", { class: "note" }, "(no text)") : null,
    (reply.calls ?? []).map((one) => [make("h5", {}, "asked to call"), call(one, read)]),
    step.unreadable ? [make("h5", {}, "unreadable"), textBox(read(step.unreadable), "wrong")] : null,
    step.verdict ? [make("h5", {}, "verdict"), textBox(read(step.verdict), "verdict")] : null,
    (step.tried ?? []).map((one) => observed(one, "tried", read)),
    (step.observed ?? []).map((one) => observed(one, "observed", read)),
    (step.skipped ?? []).map((one) => [make("h5", {}, "not run"), call(one, read)]),
    step.remarks ? fold("remarks of the agent", () => textBox(read(step.remarks))) : null,
  );
}

// The stored lines of an offer: all names, then a tool each; before, each tool with its name in it.
function tools(lines) {
  const found = lines.map((line) => JSON.parse(line));
  return Array.isArray(found[0]) ? found[0].map((name, n) => ({ name, ...found[n + 1] })) : found;
}

function offered(episode) {
  if (!episode.offered) return null;
  const cards = tools(episode.lines(episode.offered));
  return fold(`${plural(cards.length, "tool")} offered`, () =>
    cards.map((tool) =>
      fold(tool.name, () =>
        [
          textBox(tool.description || "(no description)"),
          tool.card
            ? [
                make("h5", {}, "card"),
                textBox(typeof tool.card === "string" ? tool.card : JSON.stringify(tool.card, null, 2)),
              ]
            : [],
          tool.parameters ? [make("h5", {}, "parameters"), textBox(JSON.stringify(tool.parameters, null, 2))] : [],
        ].flat(),
      ),
    ),
  );
}

function ending(episode, row) {
  const { read } = episode;
  const grounds = Object.entries(episode.grounds ?? {}).map(([name, ground]) => [
    make("h5", {}, `refused, ${name}`),
    textBox(read(ground)),
  ]);
  return part(
    `End: ${outcome(row)}`,
    episode.answer ? textBox(read(episode.answer), "answer") : null,
    grounds,
    episode.error ? textBox(read(episode.error), "wrong") : null,
  );
}

function scores(index, episode) {
  const signed = (name) => index.signed[index.scores.indexOf(name)];
  const rows = Object.entries(episode.scores ?? {}).map(([name, value]) => [
    signed(name),
    value === null ? "unscored" : digits(value),
    digits(episode.ceilings?.[name]),
    episode.read(episode.explanations?.[name]),
  ]);
  const shown = rows.filter(([, value, , why]) => value !== "unscored" || why);
  const heads = [
    { name: "score" },
    { name: "value", number: true },
    { name: "perfect", number: true },
    { name: "the scorer's words" },
  ];
  const missing = rows.length - shown.length;
  return part(
    "Scores",
    shown.length ? table(heads, shown) : make("p", { class: "note" }, "not scored"),
    missing ? make("p", { class: "note" }, `${missing} scores are not defined here`) : null,
  );
}

function spent(episode) {
  const rows = Object.entries(episode.purposes ?? {}).map(([name, used]) => [
    name,
    count(used.calls),
    count(used.input_tokens),
    count(used.output_tokens),
    dollars(used.cost_usd),
  ]);
  const heads = ["purpose", "calls", "tokens in", "tokens out", "cost"].map((name, n) => ({ name, number: n > 0 }));
  return rows.length ? part("Calls, tokens and cost by purpose", table(heads, rows)) : null;
}

function plan(episode) {
  const found = (episode.steps ?? []).filter((step) => step.purpose === "plan" && !step.aside && step.reply?.text);
  return found.length
    ? part(
        "Plan",
        found.map((step) => textBox(episode.read(step.reply.text))),
      )
    : null;
}

function about(index, row) {
  const strata = row.strata.map((value, n) => value !== null && `${index.strata[n]}: ${value}`).filter(Boolean);
  const cost = row.cost === null ? "cost not known" : dollars(row.cost);
  const used = [plural(row.calls, "call"), plural(row.tokens, "token"), cost, `${row.seconds.toFixed(1)} s`].join(", ");
  return make(
    "p",
    { class: "about" },
    mark(row),
    ` ${outcome(row)} · ${used}`,
    strata.length ? ` · ${strata.join(" · ")}` : "",
  );
}

function episodeView(index, row, episode) {
  const steps = episode.steps ?? [];
  return [
    about(index, row),
    part("Question", textBox(episode.read(episode.question) || row.question)),
    offered(episode),
    plan(episode),
    part(
      plural(steps.length, "step"),
      make(
        "ol",
        { class: "steps" },
        steps.map((step, n) => stepCard(step, n + 1, episode.read)),
      ),
    ),
    ending(episode, row),
    scores(index, episode),
    spent(episode),
    part("In a terminal", textBox(episode.command)),
  ].filter(Boolean);
}
