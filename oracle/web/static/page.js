"use strict";
// Pages work without this file. It renews a page when something changed, and lets drawings be moved.

(() => {
  document.documentElement.classList.add("scripted");
  const live = document.getElementById("live");

  // A form that a person is filling in is left alone, and so is a selection.
  const isBusy = () => {
    const active = document.activeElement;
    const isTyping = active && active.closest("main") && active.matches("input, select, textarea");
    return document.hidden || isTyping || String(getSelection()).length > 0;
  };

  // What the server sent last: a drawing that a person moved is no news.
  let shown = document.querySelector("main").innerHTML;

  const openDetails = (main) => [...main.querySelectorAll("details")].map((one) => one.open);

  const renew = async () => {
    const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!reply.ok && reply.status !== 404) return; // 404: what was shown is gone, and the page says so
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const found = page.querySelector("main");
    const main = document.querySelector("main");
    if (!found || isBusy()) return;
    const sent = found.innerHTML;
    if (sent === shown) return;
    shown = sent;
    const before = openDetails(main);
    [...found.querySelectorAll("details")].forEach((one, at) => { if (before[at] !== undefined) one.open = before[at]; });
    const focused = [...main.querySelectorAll("a, summary")].indexOf(document.activeElement);
    main.innerHTML = found.innerHTML;
    if (focused >= 0) main.querySelectorAll("a, summary")[focused]?.focus();
    drawings();
    live.textContent = new Date().toLocaleTimeString(document.documentElement.lang);
  };

  let isDue = false;
  const renewSoon = () => {
    isDue = true;
    if (isBusy()) return;
    isDue = false;
    renew().catch(() => {});
  };
  // Only a page that is seen listens: a browser has six connections to a server.
  let state = document.body.dataset.state;
  let source = null;
  const listen = () => {
    if (source || document.hidden) return;
    source = new EventSource(`/events?${new URLSearchParams({ since: state, path: document.body.dataset.path || "" })}`);
    source.addEventListener("change", (event) => { state = event.lastEventId; renewSoon(); });
  };
  const stop = () => { source?.close(); source = null; };
  listen();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stop(); return; }
    listen();
    if (isDue) renewSoon();
  });
  document.addEventListener("focusout", () => { if (isDue) setTimeout(renewSoon, 200); });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // "/" goes to the search, as in many programs.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    document.getElementById("quick").focus();
  });

  // A page that is not on this machine's own address has no clipboard of its own: a field to copy from does there.
  const copy = async (text) => {
    if (navigator.clipboard) { await navigator.clipboard.writeText(text); return; }
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    await copy(button.dataset.text);
    button.textContent = live.textContent = button.dataset.done;
  });

  // Drawings: drag moves, the wheel with Ctrl and the keys + - 0 change the size.
  const drawings = () => {
    for (const frame of document.querySelectorAll(".frame")) {
      const drawing = frame.querySelector("svg");
      if (!drawing || !drawing.viewBox.baseVal) continue;
      const whole = drawing.getAttribute("viewBox").split(" ").map(Number);
      let view = [...whole];
      const show = () => drawing.setAttribute("viewBox", view.join(" "));
      const zoom = (factor, x = 0.5, y = 0.5) => {
        const width = Math.min(Math.max(view[2] * factor, whole[2] / 20), whole[2] * 2);
        const height = (width * whole[3]) / whole[2];
        view = [view[0] + (view[2] - width) * x, view[1] + (view[3] - height) * y, width, height];
        show();
      };
      let last = null;
      drawing.onpointerdown = (event) => { last = [event.clientX, event.clientY]; };
      drawing.onpointermove = (event) => {
        if (!last || !event.buttons) return;
        const scale = view[2] / drawing.clientWidth;
        view[0] -= (event.clientX - last[0]) * scale;
        view[1] -= (event.clientY - last[1]) * scale;
        last = [event.clientX, event.clientY];
        show();
      };
      drawing.onwheel = (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const box = drawing.getBoundingClientRect();
        zoom(event.deltaY > 0 ? 1.15 : 0.87, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
      };
      frame.onkeydown = (event) => {
        if (event.key === "+") zoom(0.8);
        else if (event.key === "-") zoom(1.25);
        else if (event.key === "0") { view = [...whole]; show(); }
      };
    }
  };
  drawings();
})();
