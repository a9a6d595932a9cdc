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
  const inWords = (at, value) => fieldAt[at].type !== "member" || value < 0
    ? shown(at, value) : `${about.held[fieldAt[at].path]} ${value}`;
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

  const shownOf = state => about.elements.map(one => ({ name: one.label,
    after: one.box === null ? inWords(one.cells[0], state[one.cells[0]])
      : listed(about.boxes[one.box], textsOf(one, state)) }));
  const changes = (before, after) => {
    const old = shownOf(before);
    return shownOf(after).flatMap(({ name, after: value }, i) => old[i].after === value ? []
      : [{ name, before: old[i].after, after: value }]);
  };

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
  const ofMember = (name, text, word) =>
    [name === about.only || (name === word && text !== "nobody") ? text : `${name} ${text}`, false];
  const partOf = (at, value, name) => {
    if (fieldAt[at].type === "member") {
      return ofMember(name, inWords(at, value), about.held[fieldAt[at].path]);
    }
    const said = shown(at, value);
    if (typeof said === "string") return [said, true];
    const text = typeof said === "boolean" ? (said ? "yes" : "no") : String(said);
    return name === about.only ? [text, true] : [`${name} ${text}`, false];
  };
  const joined = parts => parts.reduce((text, [part], i) => !i ? part
    : text + (parts.slice(0, i).every(([, bare]) => bare) ? " " : ", ") + part, "");
  const contentOf = (box, place, number, values) => {
    if (box.places) {
      return joined(box.columns.map((path, i) => {
        const { at, dims } = fields.get(path);
        const spot = at + flat([...place, number], dims);
        return partOf(spot, values[spot], box.names[i]);
      }));
    }
    const parts = box.kinds[number].slice();
    box.members.forEach(([i, word], k) => parts.splice(i, 0,
      ofMember(box.names[i], `${word} ${place[box.after + k]}`, word)));
    return joined(parts);
  };
  const inBrackets = text => text.includes(",") ? `(${text})` : text;
  const called = (box, text) => box.bare ? `message ${text}` : text;
  const listed = (box, texts) => {
    const all = texts.map(inBrackets).join(", ");
    return box.ordered ? `[${all}]` : `{${all}}`;
  };
  const textsOf = (one, state) => {
    const box = about.boxes[one.box];
    const times = (count, text) => Array.from({ length: count }, (_, i) => text(i));
    if (box.places) {
      return times(state[one.cells[0]], i => contentOf(box, one.at, i, state));
    }
    return one.cells.flatMap((cell, i) => {
      const place = one.places[i];
      return times(state[cell], () => contentOf(box, place, place[place.length - 1], state));
    });
  };
  const taken = (boxes, place, state, next) => {
    const found = about.elements.flatMap(one => {
      if (!boxes.includes(one.box) || next === null || state[one.cells[0]] <= place) return [];
      const box = about.boxes[one.box];
      const text = contentOf(box, one.at, place, state);
      const often = texts => texts.filter(other => other === text).length;
      return often(textsOf(one, state)) > often(textsOf(one, next)) ? [called(box, text)] : [];
    });
    return found.length === 1 ? found[0] : null;
  };

  // Labels an event, as it is taken in a state: a word beside each number, and messages
  // by what is in them.
  const labelOf = (one, state) => {
    const parts = about.words[nameOf(one)].flatMap(({ word, boxes, may, silent }, i) => {
      const member = one.members[i], beside = silent ? [] : [`${word} ${member}`];
      if (may) {
        const text = taken(boxes, member, state, model.after(state, one.event, one.members));
        return text === null ? beside : [text];
      }
      if (!boxes.length) return beside;
      const box = about.boxes[boxes[0]];
      return [called(box, contentOf(box, one.members.slice(0, i + !box.places), member, state))];
    });
    return `${nameOf(one)}(${(parts.length === 1 ? parts : parts.map(inBrackets)).join(", ")})`;
  };

  const labelOfBox = (box, place) => about.elements.find(one =>
    about.boxes[one.box] === box && String(one.at) === String(place.slice(0, box.after))).label;
  const messages = (start, events) => {
    const waiting = new Map(), done = [];
    let state = start;
    const values = start.slice();
    const textAt = (box, place, number) =>
      contentOf(box, place, box.places ? number : place[place.length - 1], values);
    const gone = (box, place, queue, now, one) => {
      if (!box.places || queue.length !== now + 1) return 0;
      if (nameOf(one) === `${box.path}.lose`) return one.members[one.members.length - 1];
      const left = Array.from({ length: now }, (_, i) => textAt(box, place, i));
      const found = queue.findIndex((_, i) => queue.filter((__, k) => k !== i)
        .every((sent, k) => sent.text === left[k]));
      return Math.max(0, found);
    };
    const reorder = (box, place, queue) => {
      for (let k = 0; box.places && k < queue.length; k++) {
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
        done.push({ text: sent.text, channel: labelOfBox(box, place), sent: sent.step, taken: number,
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
    const left = [...waiting.values()].flatMap(({ box, place, queue }) => queue.map(sent => ({
      text: sent.text, channel: labelOfBox(box, place), sent: sent.step, taken: null,
      delivery: "unknown" })));
    return [...done, ...left].sort((a, b) =>
      a.sent - b.sent || (a.taken || events.length) - (b.taken || events.length));
  };

  return { start: about.start, shown, shownOf, inWords, at, nameOf, codeOf, labelOf, event, follow, changes, laneOf, kinds,
    strips, breaksAt, chosen, options, goOn, toRest, messages };
};
