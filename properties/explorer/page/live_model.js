// Describes a run by stepping the model, as view_builder.py does in Python.
// An event is { event, members }, by the number of its action.

const liveModel = (model, about) => {
  const fields = new Map(model.fields.map(field => [field.path, field]));
  const fieldAt = model.fields.flatMap(field =>
    Array(field.dims.reduce((a, b) => a * b, 1)).fill(field));
  const numbers = new Map(model.events.map((event, i) => [event.name, i]));

  const shown = (at, value) =>
    fieldAt[at].type === "enum" ? fieldAt[at].values[value]
      : fieldAt[at].type !== "member" ? value
        : value < 0 ? "nobody" : `${fieldAt[at].sort}${value}`;
  const at = name => model.names.indexOf(name);
  const nameOf = ({ event }) => model.events[event].name;
  const codeOf = one => `${nameOf(one)}(${one.members.join(", ")})`;
  const event = (name, members) => ({ event: numbers.get(name), members });

  const follow = (start, events) => {
    const states = [start];
    for (const { event: number, members } of events) {
      const next = model.after(states[states.length - 1], number, members);
      if (next === null) break;
      states.push(next);
    }
    return states;
  };

  const changes = (before, after) => about.names.flatMap((name, at) =>
    before[at] === after[at] ? []
      : [{ name, before: shown(at, before[at]), after: shown(at, after[at]) }]);

  const laneOf = one => {
    const rule = about.rules[nameOf(one)];
    return rule.member === null ? rule.text : `${rule.text}${one.members[rule.member]}`;
  };

  const kinds = (events, states) => {
    let down = false;
    return events.map((one, i) => {
      const [before, after] = [states[i], states[i + 1]];
      const kind = about.kinds[nameOf(one)];
      if (kind === "crash") down = true;
      if (kind !== "action") return kind;
      const rises = about.statuses.some(
        at => before[at] === about.down && after[at] === about.up);
      const sets = about.volatile.some(at => before[at] !== after[at]);
      if (!rises && !(down && !about.statuses.length && sets)) return kind;
      down = false;
      return "restart";
    });
  };

  const known = new WeakMap();
  const rests = state => {
    if (!known.has(state)) known.set(state, model.rests(state));
    return known.get(state);
  };
  const cell = (question, states, n) => {
    if (!question.judged) return "not judged here";
    const state = states[n];
    if (question.ofSteps) {
      if (n === 0) return "open";
      if (model.equal(states[n - 1], state)) return "holds";
      return question.holds(states[n - 1], state) ? "holds" : "fails";
    }
    if (question.ofRest && !rests(state)) return "open";
    const holds = question.holds(state);
    if (question.witness) return holds ? "met" : "open";
    return holds ? "holds" : "fails";
  };
  const order = ["fails", "holds", "met", "open", "not judged here"];
  const cellOf = (property, states, n) => {
    const found = property.questions.map(q => cell(model.questions[q], states, n));
    return order.find(word => found.includes(word)) || "not judged here";
  };
  const strips = states => about.properties.map(property => {
    const cells = states.map((_, n) => cellOf(property, states, n));
    const first = cells.indexOf("fails");
    return { property: property.name, text: property.text, cells,
      first: first < 0 ? null : first };
  });
  const chosen = about.properties.find(property => property.chosen) || null;
  // Readers of real Spark look when a run is down after a crash, and at rest.
  const looked = (events, states, n) => !about.moments || rests(states[n])
    || (n > 0 && about.kinds[nameOf(events[n - 1])] === "crash");
  const breaksAt = (events, states) => {
    if (chosen === null) return null;
    const first = states.findIndex((_, n) => cellOf(chosen, states, n) === "fails"
      && looked(events, states, n));
    return first < 0 ? null : first;
  };

  const options = state => model.enabled(state)
    .filter(option => !model.equal(option.state, state))
    .map(option => ({ ...option, kind: about.kinds[nameOf(option)] }));

  // Takes those of some events that can be taken, each in its turn.
  const goOn = (state, events) => {
    const taken = [];
    for (const one of events) {
      const next = model.after(state, one.event, one.members);
      if (next === null || model.equal(next, state)) continue;
      taken.push(one);
      state = next;
    }
    return taken;
  };

  const toRest = (state, most) => {
    const taken = [], turns = new Map();
    while (taken.length < most) {
      const open = options(state).filter(one => !model.events[one.event].fault);
      if (!open.length) break;
      const often = one => turns.get(codeOf(one)) || 0;
      const next = open.reduce((a, b) => (often(b) < often(a) ? b : a));
      turns.set(codeOf(next), often(next) + 1);
      taken.push({ event: next.event, members: next.members });
      state = next.state;
    }
    return taken;
  };

  // Messages ---------------------------------------------------------------------

  const flat = (place, dims) => place.reduce((at, index, i) => at * dims[i] + index, 0);
  const partOf = (at, value, name) => {
    const said = shown(at, value);
    if (typeof said === "string") {
      return fieldAt[at].type === "member" && name !== about.only ? `${name} ${said}` : said;
    }
    const text = typeof said === "boolean" ? (said ? "yes" : "no") : String(said);
    return name === about.only ? text : `${name} ${text}`;
  };
  const contentOf = (box, place, number, values) => box.fifo
    ? box.columns.map((path, i) => {
      const { at, dims } = fields.get(path);
      const spot = at + flat([...place, number], dims);
      return partOf(spot, values[spot], box.names[i]);
    }).join(", ")
    : [...box.members.map(([name, sort], i) => `${name} ${sort}${place[box.after + i]}`),
      box.texts[number]].filter(Boolean).join(", ");

  // Labels an event, as it is taken in a state: a word beside each number, and messages
  // by what is in them.
  const labelOf = (one, state) => {
    const parts = about.words[nameOf(one)].map((word, i) => {
      if (typeof word === "string") return `${word} ${one.members[i]}`;
      const text = contentOf(about.boxes[word], one.members.slice(0, i), one.members[i], state);
      return text.includes(",") ? `message (${text})` : `message ${text}`;
    });
    return `${nameOf(one)}(${parts.join(", ")})`;
  };

  const messages = (start, events) => {
    const waiting = new Map(), done = [];
    let state = start;
    const values = start.slice();
    const textAt = (box, place, number) =>
      contentOf(box, place, box.fifo ? number : place[place.length - 1], values);
    const gone = (box, place, queue, now, one) => {
      if (!box.fifo || queue.length !== now + 1) return 0;
      if (nameOf(one) === `${box.path}.lose`) return one.members[one.members.length - 1];
      const left = Array.from({ length: now }, (_, i) => textAt(box, place, i));
      const found = queue.findIndex((_, i) => queue.filter((__, k) => k !== i)
        .every((sent, k) => sent.text === left[k]));
      return Math.max(0, found);
    };
    const reorder = (box, place, queue) => {
      for (let k = 0; box.fifo && k < queue.length; k++) {
        const text = textAt(box, place, k);
        const found = queue.findIndex((sent, m) => m >= k && sent.text === text);
        if (found > k) queue.splice(k, 0, ...queue.splice(found, 1));
      }
    };
    const counted = (box, place, now, number, one) => {
      const key = JSON.stringify([box.path, place]);
      if (!waiting.has(key)) waiting.set(key, { box, place, queue: [] });
      const { queue } = waiting.get(key);
      while (queue.length > now) {
        const [sent] = queue.splice(gone(box, place, queue, now, one), 1);
        const name = nameOf(one);
        const lost = about.kinds[name] === "crash" || name === `${box.path}.lose`;
        done.push({ text: sent.text, channel: box.path, sent: sent.step, taken: number,
          delivery: lost ? "lost" : "received" });
      }
      while (queue.length < now) {
        const there = Array.from({ length: now }, (_, k) => textAt(box, place, k));
        for (const { text } of queue) {
          if (there.includes(text)) there.splice(there.indexOf(text), 1);
        }
        queue.push({ text: there[there.length - 1], step: number });
        reorder(box, place, queue);
      }
    };
    const placeOf = (field, at) => {
      let rest = at - field.at;
      return field.dims.map((_, i) => {
        const step = field.dims.slice(i + 1).reduce((a, b) => a * b, 1);
        const index = Math.floor(rest / step);
        rest -= index * step;
        return index;
      });
    };
    if (!about.boxes.length) return [];
    events.forEach((one, i) => {
      const log = [];
      const next = model.after(state, one.event, one.members, log);
      for (const [at, value] of log) {
        values[at] = value;
        for (const box of about.boxes) {
          const field = fieldAt[at];
          if (field.path === box.counted) {
            counted(box, placeOf(field, at), value, i + 1, one);
          }
        }
      }
      for (const { box, place, queue } of waiting.values()) {
        reorder(box, place, queue);
      }
      state = next;
    });
    const left = [...waiting.values()].flatMap(({ box, queue }) => queue.map(sent => ({
      text: sent.text, channel: box.path, sent: sent.step, taken: null,
      delivery: "unknown" })));
    return [...done, ...left].sort((a, b) =>
      a.sent - b.sent || (a.taken || events.length) - (b.taken || events.length));
  };

  return { start: about.start, shown, at, nameOf, codeOf, labelOf, event, follow, changes, laneOf, kinds,
    strips, breaksAt, chosen, options, goOn, toRest, messages };
};
