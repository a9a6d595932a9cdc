// The reader's position: on the trace, or on a path of their own that left it.

const MOST_OWN = 500;
const MOST_STARTS = 64;

const walking = (view, model, live, changed) => {
  const trace = view.steps.map(({ event, members }) =>
    live ? live.event(event, members) : { event, members });
  // Only a walk may begin elsewhere: a trace is that of its own start.
  const starts = [];
  let more = false;
  if (live && !trace.length) {
    for (const state of model.initial()) {
      more = starts.length === MOST_STARTS;
      if (more) break;
      starts.push(state);
    }
  }
  let start = live ? live.start : null;
  let begun = starts.findIndex(state => model.equal(state, start));
  let path = trace, from = trace.length, step = 0, states = null, lost = 0;

  const settle = (events, at, keep) => {
    path = events;
    lost = 0;
    from = keep;
    if (live) {
      states = live.follow(start, path);
      path = path.slice(0, states.length - 1);
    }
    step = Math.max(0, Math.min(at, path.length));
  };
  const same = (one, other) =>
    one.event === other.event && String(one.members) === String(other.members);
  // Steps that follow the trace are on it, however they came to be taken.
  const shared = events => {
    let n = 0;
    while (n < events.length && n < trace.length && same(events[n], trace[n])) n++;
    return n;
  };

  const spelled = ({ event, members }) =>
    [encodeURIComponent(model.events[event].name), ...members].join(",");
  const address = () => {
    const own = path.slice(from);
    const left = onTrace() ? "" : `&from=${from}&take=${own.map(spelled).join(";")}`;
    const first = starts.length > 1 ? `&start=${begun}` : "";
    return `#step=${step}${first}${left}`;
  };
  const read = text => {
    const given = new Map(text.replace(/^#/, "").split("&").map(part => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    }));
    const number = name => Math.max(0, Math.floor(Number(given.get(name)) || 0));
    let events = trace, keep = trace.length, wanted = null;
    if (given.has("start") && starts[number("start")]) {
      begun = number("start");
      start = starts[begun];
    }
    if (live && given.has("from")) {
      keep = Math.min(number("from"), trace.length);
      const own = (given.get("take") || "").split(";").filter(Boolean)
        .slice(0, MOST_OWN).map(part => {
          const [name, ...members] = part.split(",");
          return live.event(decodeURIComponent(name), members.map(Number));
        });
      wanted = keep + own.length;
      const known = own.findIndex(one => one.event === undefined
        || one.members.length !== model.events[one.event].sizes.length
        || one.members.some((m, i) =>
          !(Number.isInteger(m) && m >= 0 && m < model.events[one.event].sizes[i])));
      events = [...trace.slice(0, keep), ...(known < 0 ? own : own.slice(0, known))];
    }
    settle(events, given.has("step") ? number("step") : view.fails_at || 0, keep);
    lost = wanted === null ? 0 : Math.max(0, wanted - path.length);
  };
  const show = () => {
    const text = address();
    if (location.hash !== text) history.replaceState(null, "", text);
    changed();
  };
  const onTrace = () => from === trace.length && path.length === trace.length;

  return {
    read(text) { try { read(text); } catch (error) { settle(trace, 0, trace.length); } },
    show,
    go(at) { step = Math.max(0, Math.min(at, path.length)); show(); },
    take(one) {
      const next = path[step];
      if (next && same(next, one)) { step += 1; show(); return; }
      const events = [...path.slice(0, step), { event: one.event, members: one.members }];
      settle(events, step + 1, shared(events));
      show();
    },
    takeAll(more) {
      const room = Math.max(0, trace.length + MOST_OWN - path.length);
      const events = [...path, ...more.slice(0, room)];
      settle(events, events.length, shared(events));
      show();
    },
    walk(events) { settle(events, shared(events), shared(events)); show(); },
    back() {
      const at = Math.min(step, from);
      settle(trace, at, trace.length);
      show();
    },
    begin(at) {
      if (!starts[at]) return;
      begun = at;
      start = starts[at];
      settle(trace, 0, trace.length);
      show();
    },
    onTrace,
    address,
    starts,
    more,
    get begun() { return begun; },
    get trace() { return trace; },
    get start() { return start; },
    get path() { return path; },
    get states() { return states; },
    get lost() { return lost; },
    get step() { return step; },
    get from() { return from; },
  };
};
