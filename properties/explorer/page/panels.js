// What is said beside the lanes: of a step, of what can happen next, of properties.

const CELLS = { holds: "·", fails: "✕", met: "✓", open: "–", seen: "=" };
const MOST_OPTIONS = 120;

const spoken = value => value === null || value === undefined ? "?"
  : typeof value === "object" ? JSON.stringify(value) : String(value);

const panels = {
  step(row, changes, messages, laneOf) {
    byId("step-title").textContent = row.number === 0 ? "The start"
      : `Step ${row.number}: ${row.text}`;
    byId("step-doc").textContent = row.doc || "";
    const labels = empty(byId("step-labels"));
    for (const [text, kind] of [
      [row.who, ""],
      [WORDS[row.kind], "strong"],
      [row.source && `step: ${row.source}`, ""],
      [row.number && "state: model", ""],
      [row.matters === true && "matters", "strong"],
      [row.matters === false && "can be left out: it breaks without it as well", ""],
      [row.breaks && "breaks here", "bad"],
    ]) if (text) put(labels, "span", text, "badge", kind);
    const body = empty(byId("changes").tBodies[0]);
    for (const { name, before, after } of changes) {
      const line = put(body, "tr");
      put(line, "td", name);
      put(line, "td", row.number === 0 ? "" : spoken(before));
      put(line, "td", spoken(after));
    }
    byId("changes").caption.textContent =
      row.number === 0 ? "State at the start" : "State differences";
    byId("changes").hidden = !changes.length;
    byId("no-changes").textContent = changes.length ? "" : "Nothing changes.";
    const list = empty(byId("step-messages"));
    for (const message of messages) {
      const what = `${message.channel}: ${message.text}`;
      if (message.sent === row.number) {
        put(list, "li", message.fate === "unknown"
          ? `sends ${what}; still on its way at the end, its fate unknown`
          : `sends ${what}; ${message.fate} in step ${message.taken} (${laneOf(message.taken)})`);
      }
      if (message.taken === row.number) {
        put(list, "li", `${message.fate === "lost" ? "loses" : "takes"} ${what}, `
          + `sent in step ${message.sent} (${laneOf(message.sent)})`);
      }
    }
  },

  // Gives each option that is shown with the place where is said what becomes of it.
  options(options, step, rest, take) {
    const list = empty(byId("options"));
    byId("options-title").textContent =
      step === 0 ? "What can happen first" : `What can happen after step ${step}`;
    const cut = options.length - MOST_OPTIONS;
    byId("options-said").textContent = [
      options.length ? "" : "Nothing can happen any more.",
      rest ? "No action changes anything: the run is at rest." : "",
      cut > 0 ? `Of ${options.length} the first ${MOST_OPTIONS} are shown.` : "",
    ].filter(Boolean).join(" ");
    return options.slice(0, MOST_OPTIONS).map((option, i) => {
      const button = put(put(list, "li"), "button");
      button.type = "button";
      if (i < 9) button.setAttribute("aria-keyshortcuts", String(i + 1));
      put(button, "span", i < 9 ? `${i + 1}` : " ", "quiet");
      put(button, "span", option.text, "text");
      if (WORDS[option.kind]) put(button, "span", WORDS[option.kind], "badge", "strong");
      button.addEventListener("click", () => take(option));
      return [option, put(button, "span", "…", "said")];
    });
  },

  because(sentences, go) {
    byId("because-section").hidden = !sentences.length;
    const list = empty(byId("because"));
    byId("contradiction").textContent = sentences.length ? sentences[sentences.length - 1] : "";
    for (const sentence of sentences.slice(0, -1)) {
      const step = /^because step (\d+),/.exec(sentence);
      if (step === null) {
        put(list, "li", sentence);
        continue;
      }
      const button = put(put(list, "li"), "button", sentence);
      button.type = "button";
      button.addEventListener("click", () => go(Number(step[1])));
    }
  },

  strips(strips, chosen, step, go) {
    const table = byId("strip");
    byId("strip-section").hidden = !strips.length;
    const head = empty(table.tHead), body = empty(table.tBodies[0]);
    if (!strips.length) return;
    const top = put(head, "tr");
    put(top, "th", "Property").scope = "col";
    strips[0].cells.forEach((_, n) => put(top, "th", n, n === step && "here"));
    for (const strip of strips) {
      const line = put(body, "tr", null, strip.property === chosen && "chosen");
      const name = put(line, "th", strip.property);
      name.scope = "row";
      name.title = strip.text;
      strip.cells.forEach((cell, n) => {
        const sign = CELLS[cell] || "?";
        const first = n === strip.first;
        const made = put(line, "td", first ? `[${sign}]` : sign,
          cell === "fails" && "fails", n === step && "here");
        const word = cell === "open" ? "nothing to say yet" : cell;
        const text = `${word}${first ? " for the first time" : ""}, after step ${n}`;
        made.title = `${strip.property}: ${text}`;
        made.setAttribute("aria-label", text);
        made.addEventListener("click", () => go(n));
      });
    }
  },

  passing(view, texts, trace) {
    const run = view.passing;
    byId("passing-section").hidden = run === null;
    if (run === null) return;
    const { shared } = run;
    byId("passing-said").textContent = `${
      shared ? `Steps 1 to ${shared} are the same. Then it goes another way` : "It goes another way from the start"
    }, to rest, and does not break it. It is a run of the model.`;
    const body = empty(byId("passing").tBodies[0]);
    const last = Math.max(texts.length, trace.length);
    for (let n = shared; n < last; n++) {
      const line = put(body, "tr");
      put(line, "td", n + 1);
      put(line, "td", trace[n] === undefined ? "" : trace[n]);
      put(line, "td", texts[n] === undefined ? (n === texts.length ? "(rest)" : "") : texts[n]);
    }
  },

  printed(rows, changesOf) {
    const body = empty(byId("printed").tBodies[0]);
    for (const row of rows) {
      if (row.kind === "look") continue;
      const line = put(body, "tr");
      put(line, "td", row.number);
      put(line, "td", [row.text, row.who, WORDS[row.kind], row.source].filter(Boolean).join(", "));
      put(line, "td", row.number === 0 ? "" : changesOf(row.number).map(({ name, before, after }) =>
        `${name}: ${spoken(before)} to ${spoken(after)}`).join("; "));
    }
  },
};
