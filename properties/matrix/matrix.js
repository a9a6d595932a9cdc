// Opens the explorer's page of a refuted cell, which is packed into this page.

(() => {
  "use strict";
  const held = id => JSON.parse(document.getElementById(id).textContent);
  const shell = held("shell"), runs = held("runs");

  const unpacked = async text => {
    const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(plain).text());
  };
  const whole = (parts, claim) => {
    const own = { ...parts, DATA: parts.DATA[claim] };
    let page = shell;
    for (const name of ["SCRIPTS", "MODEL", "DATA"]) {
      page = page.split(`@${name}@`).join(own[name]);
    }
    return URL.createObjectURL(new Blob([page], { type: "text/html" }));
  };
  const story = id => {
    for (let at = document.getElementById(id); at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    location.hash = id;
  };

  document.addEventListener("click", async event => {
    const link = event.target.closest("a[data-run]");
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    const id = link.hash.slice(1);
    const { run, claim } = link.dataset;
    if (!(run in runs)) return story(id);
    try {
      const opened = window.open(whole(await unpacked(runs[run]), claim), "_blank");
      if (!opened) story(id);
    } catch (error) {
      story(id);  // a browser that cannot unpack it shows the steps, at least
    }
  });
})();
