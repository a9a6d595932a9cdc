// The page: puts together the view, the reader's position, and what is shown.

(() => {
  "use strict";
  const MOST_WAIT = 200, MOST_TAKEN = 200;
  const { view, about, copy } = JSON.parse(byId("data").textContent);
  const model = MODEL;
  const live = model ? liveModel(model, about) : null;
  const diagram = drawing();
  let drawn = "", every = [], rows = [], messages = [], strips = [], found = null;
  let moved = location.hash !== "", foreseen = 0;

  const opened = new Set();
  const walk = walking(view, model, live, () => render());

  // Rows --------------------------------------------------------------------------

  const laneNames = () => {
    const names = view.lanes.slice();
    const readers = view.looks.length ? names.pop() : null;
    if (live) {
      for (const one of walk.path) {
        if (!names.includes(live.laneOf(one))) names.push(live.laneOf(one));
      }
    }
    if (!names.length) names.push(view.protocol);
    return readers === null ? names : [...names, readers];
  };
  const failing = () => {
    if (!live || walk.onTrace()) return view.fails_at;
    return live.breaksAt(walk.path, walk.states);
  };
  const madeRows = lanes => {
    const kinds = live ? live.kinds(walk.path, walk.states) : view.steps.map(s => s.kind);
    const breaks = failing();
    const signs = strips.find(strip => strip.property === view.property);
    const sign = n => (signs && ["holds", "fails"].includes(signs.cells[n])
      ? CELLS[signs.cells[n]] : "");
    const made = [{ number: 0, lane: 0, kind: "start", text: "start", who: "",
      sign: sign(0), breaks: breaks === 0 }];
    walk.path.forEach((one, i) => {
      const known = i < walk.from ? view.steps[i] : null;
      const lane = live ? live.laneOf(one) : view.lanes[known.lane];
      const event = live ? model.events[one.event] : null;
      made.push({
        number: i + 1,
        lane: lanes.indexOf(lane),
        kind: kinds[i],
        sign: sign(i + 1),
        text: live ? live.labelOf(one, walk.states[i]) : known.text,
        who: lane,
        doc: event ? event.doc : known.doc,
        source: known ? known.source : "model",
        matters: known && walk.onTrace() ? known.matters : null,
        breaks: breaks === i + 1
          && !(walk.onTrace() && view.looks.some(look => look.breaks && look.after === i + 1)),
        own: !walk.onTrace() && i >= walk.from,
      });
      for (const look of view.looks) {
        if (look.after !== i + 1 || i >= walk.from) continue;
        made.push({ number: i + 1, lane: lanes.length - 1, kind: "look",
          text: say("readers-see", { text: look.text }), source: "real Spark",
          who: "", breaks: look.breaks && walk.onTrace() });
      }
    });
    return made;
  };
  // Routine steps are one row together, until it is clicked on or a reader steps in.
  const foldsNow = () => (walk.onTrace() ? view.folds : []);
  const foldedRows = all => {
    const made = [], closed = foldsNow().filter(([first]) => !opened.has(first));
    for (const row of all) {
      const inside = closed.find(([first, last]) => first <= row.number
        && (row.kind === "look" ? row.number < last : row.number <= last));
      if (!inside) made.push(row);
      else if (row.number === inside[0] && row.kind !== "look") {
        made.push({ kind: "fold", number: row.number, lane: row.lane, fold: inside[0], rows: [row] });
      } else if (row.kind !== "look") made[made.length - 1].rows.push(row);
    }
    for (const row of made) {
      if (row.kind !== "fold") continue;
      const [from, to] = [row.rows[0], row.rows[row.rows.length - 1]];
      row.text = say("folded", { count: row.rows.length, first: from.number,
        last: to.number, from: from.text, to: to.text });
    }
    return made;
  };
  const changesOf = number => {
    if (number === 0 && live) {
      return live.shownOf(walk.start);
    }
    if (number === 0) {
      return Object.entries(view.start).map(([name, after]) => ({ name, after }));
    }
    if (!live) return view.steps[number - 1].changes;
    return live.changes(walk.states[number - 1], walk.states[number]);
  };

  // What is said -----------------------------------------------------------------

  // Says what becomes of the property: the trace's own steps first, then on to rest.
  const outcome = option => {
    const before = walk.states.slice(0, walk.step + 1);
    const taken = [...walk.path.slice(0, walk.step), option];
    const first = live.breaksAt(taken, [...before, option.state]);
    if (!live.chosen || (first !== null && first < before.length)) return "";
    if (first !== null) return say("breaks-at-once");
    const as = live.goOn(option.state, walk.trace.slice(walk.step));
    const then = live.follow(option.state, as);
    const more = live.toRest(then[then.length - 1], MOST_TAKEN);
    const states = [...before, ...live.follow(option.state, [...as, ...more])];
    const breaks = live.breaksAt([...taken, ...as, ...more], states);
    if (breaks !== null) return say("breaks-later", { step: breaks });
    return model.rests(states[states.length - 1]) ? say("passes")
      : say("passes-so-far", { most: MOST_TAKEN });
  };
  const optionsHere = () => {
    const state = walk.states[walk.step], next = walk.path[walk.step];
    return live.options(state).map(option => {
      const on = Boolean(next) && live.codeOf(option) === live.codeOf(next);
      return { ...option, text: live.labelOf(option, state), on };
    }).sort((a, b) => Number(b.on) - Number(a.on));
  };
  // Says of one option after the other what becomes of it; the reader can go on meanwhile.
  const foresee = shown => {
    const mine = foreseen += 1;
    const from = first => {
      const until = performance.now() + MOST_WAIT;
      for (let at = first; mine === foreseen && at < shown.length; at += 1) {
        const [option, said] = shown[at];
        said.textContent = option.on
          ? `next on ${walk.step < walk.from ? "the trace" : "your way"}` : outcome(option);
        if (performance.now() >= until) {
          setTimeout(from, 0, at + 1);
          return;
        }
      }
    };
    from(0);
  };
  const walkText = rest => {
    const broken = strips.filter(strip => strip.first !== null);
    const claims = broken.map(strip =>
      say("walk-broken-one", { claim: strip.property, step: strip.first })).join(", ");
    const said = broken.length ? say("walk-broken", { claims }) : say("walk-any-step");
    return say("walk", { broken: said }) + (rest ? ` ${say("rests")}` : "");
  };
  const onTraceText = claim => {
    if (view.fails_at === null) return say(walk.trace.length ? "on-unbroken" : "on-start", { claim });
    if (view.ending) return say("on-ending", { ending: capital(view.ending), claim });
    const early = strips.find(strip => strip.property === view.property);
    const between = view.sink && early && early.first !== null && early.first < view.fails_at
      ? say("model-earlier", { step: early.first }) : "";
    return say("on-broken", { claim, when: when(view.fails_at) }) + between;
  };
  const positionText = (claim, breaks, rest) => {
    if (!claim) return walkText(rest);
    if (walk.onTrace()) return onTraceText(claim);
    const off = say("off", { step: walk.from + 1 });
    if (breaks !== null) {
      const key = view.fails_at === null ? "off-broken" : "off-still-broken";
      return off + say(key, { claim, when: when(breaks) });
    }
    return off + say(rest ? "off-rests" : "off-so-far", { claim });
  };
  const showPosition = () => {
    const breaks = failing(), on = walk.onTrace(), end = walk.path.length;
    const name = live && live.chosen ? live.chosen.name : view.property;
    const rest = live && model.rests(walk.states[end]);
    const broken = strips.filter(strip => strip.first !== null);
    const text = positionText(name, breaks, rest);
    const cut = walk.lost === 0 ? "" : walk.lost === 1
      ? "The last step of the link cannot be taken here. "
      : `The last ${walk.lost} steps of the link cannot be taken here. `;
    byId("position-text").textContent = cut + text;
    byId("position").classList.toggle("bad",
      breaks !== null || (!name && broken.length > 0));
    byId("position").classList.toggle("good", Boolean(name) && breaks === null && !on);
    byId("back").hidden = on || !(walk.trace.length || walk.path.length);
    byId("back").textContent = walk.trace.length ? "Back to the trace" : "Back to the start";
    byId("go-on").hidden = on || !walk.trace.length;
    byId("to-rest").hidden = !live || Boolean(rest);
  };

  // Search -----------------------------------------------------------------------

  const search = () => {
    const wanted = byId("search").value.trim().toLowerCase(), who = byId("process").value;
    found = wanted || who ? new Set(every.filter(row => row.kind !== "look"
      && `${row.text} ${word(row.kind)}`.toLowerCase().includes(wanted)
      && (!who || row.who === who)).map(row => row.number)) : null;
    byId("matches").textContent = found === null ? ""
      : found.size === 1 ? "1 step" : `${found.size} steps`;
    byId("match").disabled = found === null || !found.size;
    diagram.choose(walk.step, found, moved);
    moved = true;
  };
  const nextMatch = () => {
    if (found === null || !found.size) return;
    const numbers = [...found].sort((a, b) => a - b);
    const next = numbers.find(number => number > walk.step);
    walk.go(next === undefined ? numbers[0] : next);
  };

  // All of it --------------------------------------------------------------------

  const render = () => {
    for (const [first, last] of foldsNow()) {
      if (first <= walk.step && walk.step <= last) opened.add(first);
    }
    const key = JSON.stringify([walk.path, walk.from, walk.begun, [...opened]]);
    if (drawn !== key) {
      drawn = key;
      redraw();
    }
    const { step } = walk, end = walk.path.length;
    const row = every.find(one => one.number === step && one.kind !== "look");
    byId("start").value = String(walk.begun);
    byId("where").textContent = `step ${step} of ${end}`;
    byId("first").disabled = byId("previous").disabled = step === 0;
    byId("last").disabled = byId("next").disabled = step === end;
    byId("break").disabled = failing() === null;
    search();
    panels.step(row, changesOf(step), messages,
      number => every.find(one => one.number === number && one.kind !== "look").who || "start");
    panels.strips(strips, view.property, step, walk.go);
    byId("options-section").hidden = !live;
    if (live) {
      foresee(panels.options(optionsHere(), step, model.rests(walk.states[step]), walk.take));
    }
    showPosition();
  };
  const redraw = () => {
    const lanes = laneNames();
    messages = live ? live.messages(walk.start, walk.path) : view.messages;
    const observed = live ? view.strips.slice(0, view.strips.length - about.properties.length) : [];
    const mine = live ? live.strips(walk.states) : view.strips;
    mine.sort((a, b) => Number(b.property === view.property) - Number(a.property === view.property));
    strips = [...(walk.onTrace() ? observed : []), ...mine];
    every = madeRows(lanes);
    rows = foldedRows(every);
    diagram.draw(lanes, rows, messages, walk.go, first => { opened.add(first); render(); });
    const process = byId("process"), kept = process.value;
    empty(process);
    put(process, "option", "anyone").value = "";
    for (const name of lanes) put(process, "option", name).value = name;
    process.value = lanes.includes(kept) ? kept : "";
    panels.because(walk.onTrace() ? view.because : [], walk.go);
    panels.printed(every, changesOf);
  };

  const about_ = () => {
    const what = view.sink || view.protocol;
    const key = view.property === "drift" ? "title-drift" : !view.property ? "title-walk"
      : view.fails_at === null ? "title-looked-at" : "title-breaks";
    byId("title").textContent = say(key, { what, claim: view.property });
    document.title = `${byId("title").textContent} - Onceproof`;
    byId("clause").textContent = view.clause && !view.story ? say("claimed", { clause: view.clause }) : "";
    const sizes = Object.entries(view.parameters).map(([name, value]) => `${name}=${spoken(value)}`);
    const labels = byId("labels");
    put(labels, "span", say(view.source === "model" ? "source-model" : "source-spark"), "badge", "strong");
    if (view.sink) put(labels, "span", say("as-the-model", { protocol: view.protocol }), "badge");
    for (const size of sizes) put(labels, "span", size, "badge");
    const weighed = view.steps.some(step => step.matters !== null);
    byId("legend").textContent = `● action  ◇ fault  ☒ crash  ▲ restart  ✕ loss  ▭ ${say("cell-seen")}`
      + (weighed ? `; hollow and grey: ${say("can-be-left-out")}` : "")
      + "; arrows are messages, dashed where their delivery is unknown"
      + (view.property ? "; beside a number: · the property holds, ✕ it fails" : "");
    const notes = byId("notes");
    for (const note of view.notes) put(notes, "li", note);
    byId("notes").hidden = !view.notes.length;
    byId("versions").textContent = Object.entries(view.versions)
      .map(([name, version]) => `${name} ${version}`).join(", ");
    const choice = byId("start");
    byId("start-group").hidden = walk.starts.length < 2;
    if (walk.starts.length > 1) {
      walk.starts.forEach((state, i) => {
        const text = model.names.flatMap((name, at) => model.starts[at].length < 2 ? []
          : [`${name}=${spoken(live.inWords(at, state[at]))}`]).join(", ");
        put(choice, "option", text).value = String(i);
      });
      if (walk.more) put(notes, "li", `of the first states only ${walk.starts.length} are offered`);
      notes.hidden = !notes.childElementCount;
    }
    const trace = view.steps.map(step => step.text);
    panels.passing(view, view.passing ? view.passing.labels : [], trace);
    panels.story(view.story, Boolean(view.sink), number => {
      walk.go(number);
      byId("steps").focus({ preventScroll: true });
    });
  };

  const keys = {
    j: () => walk.go(walk.step + 1), ArrowDown: () => walk.go(walk.step + 1),
    k: () => walk.go(walk.step - 1), ArrowUp: () => walk.go(walk.step - 1),
    Home: () => walk.go(0), End: () => walk.go(walk.path.length),
    b: () => failing() !== null && walk.go(failing()),
    Escape: () => walk.back(), n: nextMatch, "/": () => byId("search").focus(),
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape" && !byId("copied").hidden) {
      byId("copy-close").click();
      return;
    }
    if (field) {
      if (event.key === "Escape") byId("steps").focus();
      if (event.key === "Enter" && event.target.id === "search") nextMatch();
      return;
    }
    const number = Number(event.key);
    if (live && number >= 1 && number <= 9) {
      const option = optionsHere()[number - 1];
      if (option) walk.take(option);
    } else if (Object.prototype.hasOwnProperty.call(keys, event.key)) keys[event.key]();
    else return;
    event.preventDefault();
  });
  for (const [id, act] of Object.entries({
    first: keys.Home, previous: keys.k, next: keys.j, last: keys.End, break: keys.b,
    match: nextMatch, back: keys.Escape,
    "go-on": () => walk.takeAll(live.goOn(walk.states[walk.path.length], walk.trace.slice(walk.from))),
    "to-rest": () => walk.takeAll(live.toRest(walk.states[walk.path.length], MOST_TAKEN)),
    "passing-walk": () => walk.walk(view.passing.steps.map(([name, members]) => live.event(name, members))),
    skip: () => byId("steps").focus(),
  })) byId(id).addEventListener("click", event => { event.preventDefault(); act(); });
  byId("search").addEventListener("input", search);
  byId("process").addEventListener("input", search);
  byId("start").addEventListener("input", () => walk.begin(Number(byId("start").value)));
  window.addEventListener("hashchange", () => { walk.read(location.hash); walk.show(); });
  let resized = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => { drawn = ""; render(); }, 80);
  });

  about_();
  copying(view, copy, walk, live, () => strips);
  walk.read(location.hash);
  render();
})();
