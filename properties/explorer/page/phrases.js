// What page and terminal both say: one table, which the page is given as data.

const { phrases: PHRASES, cells: CELLS, kinds: KINDS } =
  JSON.parse(document.getElementById("data").textContent);

const say = (key, values = {}) =>
  PHRASES[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
const when = step => (step ? say("after-step", { step }) : say("at-the-start"));
const capital = text => text.charAt(0).toUpperCase() + text.slice(1);
const word = kind => (KINDS.includes(kind) ? kind : "");
