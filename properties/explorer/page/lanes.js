// The lanes: a row for each step, a column for each that acts, arrows for messages.

const byId = id => document.getElementById(id);
const put = (parent, tag, text, ...classes) => {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  made.classList.add(...classes.filter(Boolean));
  parent.append(made);
  return made;
};
const empty = parent => { parent.textContent = ""; return parent; };

const WIDE = 60;

const drawing = () => {
  const svg = byId("drawing"), list = byId("steps"), heads = byId("heads");
  let ROW = 36;
  const draw = (tag, attributes, parent = svg) => {
    const made = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent.append(made);
    return made;
  };

  // A shape for each kind, so that colour alone distinguishes none.
  const mark = (row, x, y) => {
    const weak = row.matters === false ? "open" : "";
    if (row.breaks) draw("circle", { cx: x, cy: y, r: 13, class: "breaking" });
    if (row.kind === "fold") return;
    if (row.kind === "start") draw("path", { d: `M${x - 8} ${y}h16`, class: "mark" });
    else if (row.kind === "look") draw("rect", { x: x - 9, y: y - 6, width: 18,
      height: 12, rx: 4, class: "mark open" });
    else if (row.kind === "crash") {
      draw("rect", { x: x - 8, y: y - 8, width: 16, height: 16, class: "fault" });
      draw("path", { d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10`, class: "fault" });
    } else if (row.kind === "restart") {
      draw("path", { d: `M${x} ${y - 9}l9 15h-18z`, class: `mark ${weak}` });
    } else if (row.kind === "loss") {
      draw("path", { d: `M${x - 7} ${y - 7}l14 14m0 -14l-14 14`, class: "fault" });
    } else if (row.kind !== "action") {
      draw("path", { d: `M${x} ${y - 9}l9 9l-9 9l-9 -9z`, class: "fault" });
    } else draw("circle", { cx: x, cy: y, r: 6, class: `mark ${weak}` });
  };

  const lifelines = (lanes, rows, across, height) => lanes.forEach((_, lane) => {
    let from = ROW / 2, down = false;
    const line = to => draw("path", { d: `M${across(lane)} ${from}V${to}`,
      class: `lane ${down ? "down" : ""}` });
    rows.forEach((row, i) => {
      if (row.lane !== lane || !["crash", "restart"].includes(row.kind)) return;
      line(i * ROW + ROW / 2);
      from = i * ROW + ROW / 2;
      down = row.kind === "crash";
    });
    line(height);
  });

  const arrow = (message, at, across, height, bend) => {
    const [sent, taken] = [at.get(message.sent), at.get(message.taken)];
    if (taken !== undefined && taken.y === sent.y) return;
    const [x, y] = [across(sent.lane), sent.y];
    const ends = taken !== undefined;
    const [tx, ty] = ends ? [across(taken.lane), taken.y] : [x + 16 + bend, height - 6];
    const curve = !ends ? `M${x} ${y}C${tx} ${y + 20} ${tx} ${y + 20} ${tx} ${ty}`
      : x === tx ? `M${x} ${y}C${x + 30 + bend} ${y + 8} ${x + 30 + bend} ${ty - 8} ${tx} ${ty}`
      : `M${x} ${y}L${tx} ${ty}`;
    draw("path", { d: curve, class: `message ${message.delivery === "unknown" ? "unknown" : ""}`,
      "data-sent": message.sent, "data-taken": message.taken === null ? "" : message.taken });
    if (!ends) {
      draw("text", { x: tx + 4, y: ty }).textContent = "?";
      return;
    }
    if (message.delivery === "lost") {
      const [cx, cy] = [(x + 3 * tx) / 4, (y + 3 * ty) / 4];
      draw("path", { d: `M${cx - 5} ${cy - 5}l10 10m0 -10l-10 10`, class: "message" });
      return;
    }
    const back = x === tx ? [30 + bend, -8] : [x - tx, y - ty];
    const length = Math.hypot(...back) || 1;
    const [ux, uy] = back.map(part => part / length);
    const [px, py] = [tx + ux * 9, ty + uy * 9];
    const point = (a, b) => `${px + ux * a - uy * b},${py + uy * a + ux * b}`;
    draw("polygon", { points: `${px},${py} ${point(9, 5)} ${point(9, -5)}`, class: "head" });
  };

  const header = (lanes, across, gap) => {
    empty(heads);
    lanes.forEach((name, lane) => {
      const head = put(heads, "span", gap >= WIDE ? name : String(lane + 1));
      head.style.left = `${across(lane)}px`;
      head.style.width = `${gap - 6}px`;
      head.title = name;
    });
    const room = Math.floor(gap / 6.5) * 2;
    byId("lane-names").textContent = gap >= WIDE && lanes.every(n => n.length < room) ? ""
      : `Lanes: ${lanes.map((name, i) => `${i + 1} ${name}`).join(", ")}`;
  };

  const fold = (row, room, unfold) => {
    const item = put(list, "li", null, "fold");
    put(item, "span", "", "number");
    put(item, "span", null, "gutter").style.flexBasis = `${room}px`;
    const button = put(item, "button", row.text);
    button.type = "button";
    button.addEventListener("click", () => unfold(row.fold));
    item.setAttribute("role", "presentation");
  };

  const entry = (row, room, choose) => {
    const item = put(list, "li", null, row.kind === "look" && "look",
      row.matters === false && "weak", row.breaks && "breaks");
    const number = put(item, "span", null, "number");
    put(number, "span", row.sign || "", "sign", row.sign === "✕" && "fails");
    put(number, "span", row.kind === "look" ? "" : row.number);
    put(item, "span", null, "gutter").style.flexBasis = `${room}px`;
    const words = put(item, "span", null, "words");
    put(words, "span", row.text, "text");
    const labels = put(words, "span", null, "labels");
    if (word(row.kind)) put(labels, "span", word(row.kind), "badge", "strong");
    if (row.breaks) put(labels, "span", say("breaks-here"), "badge", "bad");
    if (row.own) put(labels, "span", say("own-step"), "badge", "strong");
    if (row.matters === false) put(labels, "span", say("can-be-left-out"), "badge");
    if (row.who) put(labels, "span", `by ${row.who}`, "who");
    if (row.source) put(labels, "span", row.source, "source");
    if (row.kind === "look") {
      item.setAttribute("role", "presentation");
      return item;
    }
    item.id = `row-${row.number}`;
    item.setAttribute("role", "option");
    item.addEventListener("click", () => choose(row.number));
    return item;
  };

  return {
    // Draws all rows anew.
    draw(lanes, rows, messages, choose, unfold) {
      empty(svg);
      empty(list);
      ROW = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
      const width = byId("diagram").clientWidth || 700;
      const share = width < 520 ? 0.34 : 0.38;
      const gap = Math.max(16, Math.min(88, (width * share) / Math.max(1, lanes.length)));
      const across = lane => gap * lane + gap / 2;
      const tail = messages.some(message => message.taken === null) ? ROW : 0;
      const room = gap * lanes.length + 12, height = rows.length * ROW + tail;
      list.style.minWidth = room > 0.6 * width ? `${room + 300}px` : "";
      list.style.paddingBottom = `${tail}px`;
      svg.setAttribute("width", room);
      svg.setAttribute("height", height);
      header(lanes, across, gap);
      lifelines(lanes, rows, across, height);
      const at = new Map();
      rows.forEach((row, i) => {
        const y = i * ROW + ROW / 2;
        if (row.kind === "fold") {
          for (const one of row.rows) at.set(one.number, { lane: one.lane, y });
          fold(row, room, unfold);
          return;
        }
        if (row.kind !== "look") at.set(row.number, { lane: row.lane, y });
        entry(row, room, choose);
      });
      messages.forEach((message, i) =>
        arrow(message, at, across, height, Math.min(gap / 3, 14) * ((i % 3) / 2)));
      rows.forEach((row, i) => mark(row, across(row.lane), i * ROW + ROW / 2));
    },
    // Marks the step that is looked at, and those that were searched for.
    choose(step, found, moved) {
      for (const item of list.children) {
        const here = item.id === `row-${step}`;
        if (item.id) item.setAttribute("aria-selected", String(here));
        const number = Number(item.id.slice(4));
        item.classList.toggle("hit", found !== null && item.id !== "" && found.has(number));
        item.classList.toggle("missed", found !== null && !(item.id && found.has(number)));
        if (here && moved) item.scrollIntoView({ block: "nearest" });
      }
      list.setAttribute("aria-activedescendant", `row-${step}`);
      for (const line of svg.querySelectorAll("[data-sent]")) {
        const ends = [line.getAttribute("data-sent"), line.getAttribute("data-taken")];
        line.classList.toggle("touched", ends.includes(String(step)));
      }
    },
  };
};
