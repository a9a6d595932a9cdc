// What is said beside the lanes: of a step, of what can happen next, of properties.

const MOST_OPTIONS = 120;
const MOST_CHANGES = 3;

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
      [word(row.kind), "strong"],
      [row.source && `step: ${row.source}`, ""],
      [row.number && "state: model", ""],
      [row.matters === true && say("matters"), "strong"],
      [row.matters === false && say("can-be-left-out"), ""],
      [row.breaks && say("breaks-here"), "bad"],
    ]) if (text) put(labels, "span", text, "badge", kind);
    const body = empty(byId("changes").tBodies[0]);
    for (const { name, before, after } of changes) {
      const line = put(body, "tr");
      put(line, "td", name);
      put(line, "td", row.number === 0 ? "" : spoken(before));
      put(line, "td", spoken(after));
    }
    byId("changes").caption.textContent =
      say(row.number === 0 ? "state-at-the-start" : "state-differences");
    byId("changes").hidden = !changes.length;
    byId("no-changes").textContent = changes.length ? "" : say("no-change");
    const list = empty(byId("step-messages"));
    for (const message of messages) {
      const { channel, text, delivery } = message;
      if (message.sent === row.number) {
        put(list, "li", delivery === "unknown" ? say("sends-unknown", { channel, text })
          : say("sends", { channel, text, delivery, step: message.taken, who: laneOf(message.taken) }));
      }
      if (message.taken === row.number) {
        put(list, "li", say(delivery === "lost" ? "loses" : "takes",
          { channel, text, step: message.sent, who: laneOf(message.sent) }));
      }
    }
  },

  // Gives each option that is shown with the place where is said what becomes of it.
  options(options, step, rest, take) {
    const list = empty(byId("options"));
    byId("options-title").textContent = say(options.length ? "what-next" : "nothing-more");
    const cut = options.length - MOST_OPTIONS;
    byId("options-said").textContent = [
      rest ? say("rests") : "",
      cut > 0 ? `Of ${options.length} the first ${MOST_OPTIONS} are shown.` : "",
    ].filter(Boolean).join(" ");
    return options.slice(0, MOST_OPTIONS).map((option, i) => {
      const button = put(put(list, "li"), "button");
      button.type = "button";
      if (i < 9) button.setAttribute("aria-keyshortcuts", String(i + 1));
      put(button, "span", i < 9 ? `${i + 1}` : " ", "quiet");
      put(button, "span", option.text, "text");
      if (word(option.kind)) put(button, "span", word(option.kind), "badge", "strong");
      button.addEventListener("click", () => take(option));
      return [option, put(button, "span", "…", "said")];
    });
  },

  story(story, spark, go) {
    byId("story").hidden = story === null;
    if (story === null) return;
    byId("story-title").textContent = say(spark ? "story-spark" : "story-model");
    byId("story-saw").textContent = story.saw;
    byId("story-why").textContent = story.why;
    byId("story-how").textContent = story.steps.length ? say("story-steps") : "";
    const list = empty(byId("story-steps"));
    for (const { step, who, text, doc, changes } of story.steps) {
      const button = put(put(list, "li"), "button");
      button.type = "button";
      put(button, "span", String(step), "number");
      put(button, "span", who, "badge");
      put(button, "span", text, "text");
      put(button, "span", [doc, changes.slice(0, MOST_CHANGES).map(({ name, before, after }) =>
        `${name}: ${spoken(before)} → ${spoken(after)}`).join("; ")].filter(Boolean).join(" "), "said");
      button.addEventListener("click", () => go(step));
    }
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
        const sign = CELLS[cell] || say("not-judged");
        const first = n === strip.first;
        const made = put(line, "td", first ? `[${sign}]` : sign,
          cell === "fails" && "fails", n === step && "here");
        const said = cell === "open" ? say("cell-open") : cell === "seen" ? say("cell-seen") : cell;
        const text = `${said}${first ? ` ${say("first-time")}` : ""}, ${when(n)}`;
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
    byId("passing-said").textContent = say(shared ? "passing-shared" : "passing-from-start",
      { shared, claim: view.property });
    const body = empty(byId("passing").tBodies[0]);
    const last = Math.max(texts.length, trace.length);
    for (let n = shared; n < last; n++) {
      const line = put(body, "tr");
      put(line, "td", n + 1);
      put(line, "td", trace[n] === undefined ? "" : trace[n]);
      put(line, "td", texts[n] === undefined ? (n === texts.length ? say("passing-rest") : "") : texts[n]);
    }
  },

  printed(rows, changesOf) {
    const body = empty(byId("printed").tBodies[0]);
    for (const row of rows) {
      if (row.kind === "look") continue;
      const line = put(body, "tr");
      put(line, "td", row.number);
      put(line, "td", [row.text, row.who, word(row.kind), row.source].filter(Boolean).join(", "));
      put(line, "td", row.number === 0 ? "" : changesOf(row.number).map(({ name, before, after }) =>
        `${name}: ${spoken(before)} to ${spoken(after)}`).join("; "));
    }
  },
};
