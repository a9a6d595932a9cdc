// What can be taken along: the run as a pytest test, as a command, or as a link.

const copying = (view, copy, walk, live, strips) => {
  const short = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"};
  const letter = one => {
    const number = one.codePointAt(0), hex = number.toString(16);
    if (short[one]) return short[one];
    if (number >= 0x20 && number <= 0x7e) return one;
    return number > 0xffff ? "\\U" + hex.padStart(8, "0") : "\\u" + hex.padStart(4, "0");
  };
  const quoted = text => `"${[...text].map(letter).join("")}"`;
  const named = text => text.replace(/[^A-Za-z0-9]+/g, "_").toLowerCase();
  const python = value => value === true ? "True" : value === false ? "False"
    : typeof value === "number" ? String(value) : quoted(String(value));
  const pairs = data => Object.entries(data)
    .map(([name, value]) => `${quoted(name)}: ${python(value)}`).join(", ");

  const begun = () => Object.fromEntries(Object.keys(copy.start).map(name => {
    const at = live.at(name);
    return [name, live.shown(at, walk.start[at])];
  }));

  const ofTheModel = () => {
    const known = strips().find(strip => strip.first !== null) || strips()[0];
    const property = copy.property || (known ? known.property : "");
    const steps = walk.path.map(live.codeOf);
    const loop = copy.loop !== null && walk.onTrace() ? `, loop=${copy.loop}` : "";
    return [
      "from onceproof.model.library import make",
      "from onceproof.properties import holds_along",
      "",
      "",
      `def test_${named(view.protocol)}_is_${named(property || "as_claimed")}():`,
      `    protocol = make(${quoted(copy.protocol)}, {${pairs(copy.settings)}})`,
      "    steps = [",
      ...steps.map(step => `        ${quoted(step)},`),
      "    ]",
      `    start = {${pairs(begun())}}`,
      "",
      `    assert holds_along(protocol, ${quoted(property)}, steps, start=start${loop})`,
      "",
    ].join("\n");
  };
  const ofSpark = () => [
    "from pathlib import Path",
    "",
    "from onceproof.spark_checks import replay_file",
    "",
    "",
    `def test_${named(view.sink)}_is_${named(view.property)}():`,
    `    answer = replay_file(Path(${quoted(copy.file)}))`,
    "",
    '    assert answer.answer == "FIXED", answer',
    "",
  ].join("\n");

  const show = async (what, text) => {
    const said = byId("copy-said"), area = byId("copy-text");
    byId("copied").hidden = false;
    area.value = text;
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch (error) {
      area.focus();
      area.select();
      try { done = document.execCommand("copy"); } catch (refused) { done = false; }
    }
    said.textContent = done ? `The ${what} is copied:` : `The ${what}, to be copied:`;
  };
  byId("copy-test").disabled = !live && !(view.sink && copy.file);
  byId("copy-test").addEventListener("click", () => show("pytest test",
    view.sink && copy.file && walk.onTrace() ? ofSpark() : ofTheModel()));
  byId("copy-command").addEventListener("click", () => show("command", copy.command));
  byId("copy-link").addEventListener("click", () => show("link", location.href));
  byId("copy-close").addEventListener("click", () => {
    byId("copied").hidden = true;
    byId("steps").focus();
  });
};
