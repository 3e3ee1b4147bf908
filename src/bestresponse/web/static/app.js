// Live parts of the pages. Every page works without this script; with it, pages go on by themselves.
"use strict";

// A page is never replaced while somebody types: then a line says that the session has gone on. A page that is out of
// sight asks from time to time instead of holding a connection, of which a browser has six for a server.
function goOnByItself(box) {
  const { live, home, version } = box.dataset;
  const offline = box.querySelector(".offline");
  const messages = box.querySelector(".messages");
  const talk = box.querySelector("[data-talk]");
  let asked = new AbortController(), typed = false, left = false;
  box.addEventListener("input", (event) => { if (!event.target.closest("[data-chat]")) typed = true; });
  const stop = () => { left = true; asked.abort(); };
  const answered = box.querySelector("[data-answered]");
  const heard = ({ version: latest, notes, advance, chat, answered: count }) => {
    if (answered) answered.textContent = count;
    if (talk) chat.forEach((line) => addBubble(talk, line));
    notes.forEach((text) => {
      const note = document.createElement("p");
      note.className = "note message";
      note.textContent = `${messages.dataset.title}: ${text}`;
      messages.append(note);
    });
    if (advance) submitTyped();
    if (latest === version || left) return;
    stop();
    const moved = box.querySelector(".moved");
    if (typed && moved) {
      moved.hidden = false;
      box.querySelectorAll("form button").forEach((button) => { button.disabled = true; });
      moved.scrollIntoView({ block: "nearest" });
    } else {
      location.replace(home);
    }
  };
  const listen = async () => {
    asked.abort();
    const { signal } = asked = new AbortController();
    while (!left && !signal.aborted) {
      const after = document.hidden ? "" : encodeURIComponent(version);
      let address = `${live}?after=${after}&known=${messages.childElementCount}`;
      if (talk) address += `&chatted=${talk.childElementCount}`;
      if (answered) address += `&answered=${encodeURIComponent(answered.textContent)}`;
      const news = await fetch(address, { credentials: "same-origin", signal }).then((answer) => answer.status === 429 ? { busy: true } : answer.json()).catch(() => null);
      if (left || signal.aborted) return;
      offline.hidden = news !== null;
      if (news && !news.busy) heard(news);
      const pause = news && news.busy ? 10000 : document.hidden ? 2000 : news && !news.advance ? 0 : 500;
      if (pause) await new Promise((later) => setTimeout(later, pause));
    }
  };
  document.addEventListener("visibilitychange", () => { if (!left) listen(); });
  box.addEventListener("submit", async (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    event.preventDefault();
    stop();
    const { answer, html } = await deliver(event.target, event.submitter);
    history.replaceState(null, "", answer.redirected ? answer.url : home);
    show(html);
  });
  window.addEventListener("pagehide", stop);
  listen();
}

// What is sent is what the form says at the click. Its fields are closed until the server has stored it; the same
// words are sent again until there is an answer. The key of the page tells the server that it is the same click.
async function deliver(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter && submitter.name) body.set(submitter.name, submitter.value);
  const open = [...form.elements].filter((field) => !field.disabled);
  const offline = document.querySelector(".offline");
  open.forEach((field) => { field.disabled = true; });
  for (;;) {
    const answer = await fetch(form.action, { method: "POST", body, credentials: "same-origin" }).catch(() => null);
    const html = answer && answer.status !== 429 ? await answer.text().catch(() => null) : null;
    offline.hidden = answer !== null;
    if (html !== null) return { answer, html, reopen: () => open.forEach((field) => { field.disabled = false; }) };
    await new Promise((later) => setTimeout(later, 1000));
  }
}

function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  document.title = fresh.title;
  document.body = document.adoptNode(fresh.body);
  scrollTo(0, 0);
  enliven();
}

function addBubble(talk, { who, own, text }) {
  const bubble = document.createElement("li");
  const speaker = document.createElement("span");
  const words = document.createElement("p");
  bubble.className = own ? "bubble own" : "bubble";
  speaker.className = "speaker";
  speaker.textContent = own ? `${who} (${talk.dataset.you})` : who;
  words.textContent = text;
  bubble.append(speaker, words);
  talk.append(bubble);
}

// A message is sent without leaving the page; what is half written stays when the page goes on.
function writeToGroup(form) {
  const field = form.elements.text;
  const error = form.parentElement.querySelector(".error");
  const draft = `draft ${form.action}`;
  field.value ||= sessionStorage.getItem(draft) || "";
  field.addEventListener("input", () => sessionStorage.setItem(draft, field.value));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { answer, html, reopen } = await deliver(form);
    reopen();
    field.focus();
    if (answer.ok) {
      field.value = "";
      sessionStorage.removeItem(draft);
    }
    const why = answer.ok ? null : new DOMParser().parseFromString(html, "text/html").querySelector("#chat-error, .note");
    error.textContent = why ? why.textContent : "";
    error.hidden = !why;
  });
}

function sendOnce(form) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}

function openWhereWide(box) {
  if (matchMedia("(min-width: 68rem)").matches) box.open = true;
}

function copyFrom(button) {
  const field = document.getElementById(button.dataset.copyFrom);
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    await navigator.clipboard.writeText(field.value).catch(() => document.execCommand("copy"));
    button.textContent = "Copied";
  });
}

function filterBy(field) {
  const items = [...document.querySelectorAll(field.dataset.filter)];
  field.closest("[hidden]").hidden = false;
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    items.forEach((item) => { item.hidden = !item.textContent.toLowerCase().includes(wanted); });
    document.querySelectorAll(".cards").forEach((list) => {
      const empty = [...list.children].every((item) => item.hidden);
      list.hidden = empty;
      if (list.previousElementSibling) list.previousElementSibling.hidden = empty;
    });
  });
}

function countDown(clock) {
  const spoken = clock.parentElement.querySelector("[data-spoken]");
  const marks = [Math.floor(Number(clock.dataset.limit) / 2), 30];
  let before = Math.ceil(Number(clock.dataset.left));
  const end = performance.now() + 1000 * Number(clock.dataset.left);
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    clock.textContent = left === 1 ? clock.dataset.one : clock.dataset.many.replace("#", left);
    clock.classList.toggle("soon", left <= 10);
    if (left === 10) clock.setAttribute("role", "alert");
    // Whoever does not see the clock is told at half of the time and when 30 seconds are left.
    if (marks.some((mark) => left <= mark && mark < before)) spoken.textContent = clock.textContent;
    before = left;
    if (left > 0) setTimeout(tick, 250);
    else if (open && clock.isConnected) submitTyped();
  };
  const open = Number(clock.dataset.left) > 0;
  tick();
}

// When the time is up, what was typed is sent; the server takes it where it is legal.
function noteAbsence(form) {
  let times = 0, seconds = 0, since = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { times += 1; since = performance.now(); }
    else if (since) { seconds += (performance.now() - since) / 1000; since = 0; }
    form.elements.away_times.value = times;
    form.elements.away_seconds.value = Math.round(seconds);
  });
  form.elements.away_times.value = form.elements.away_seconds.value = 0;
}

function submitTyped() {
  const form = document.querySelector("form[data-answer]");
  if (!form || form.dataset.sent) return;
  const fields = [...form.querySelectorAll("input:not([type=hidden]):not([type=range]), textarea, select")];
  if (!fields.some((field) => (field.type === "radio" ? field.checked : field.value.trim()))) return;
  form.elements.timed_out.value = "yes";
  form.requestSubmit();
}

function joinSliders(box) {
  const rows = [...box.querySelectorAll(".share")].map((row) => row.querySelectorAll("input"));
  const sum = box.querySelector(".sum");
  const add = () => {
    const total = rows.reduce((sofar, [, number]) => sofar + (Number(number.value.replace(",", ".")) || 0), 0);
    const rounded = Math.round(total * 1e4) / 1e4;
    sum.textContent = rounded === 100 ? box.dataset.good : box.dataset.sum.replace("#", rounded);
    sum.classList.toggle("good", rounded === 100);
  };
  for (const [slider, number] of rows) {
    slider.addEventListener("input", () => { number.value = slider.value; add(); });
    number.addEventListener("input", () => { slider.value = number.value; add(); });
  }
  add();
}

// The number is the answer. It stays empty until somebody touches the slider, which stands in the middle till then.
function joinSlider(box) {
  const [slider, number] = box.querySelectorAll("input");
  const mark = box.dataset.decimal;
  const show = () => {
    const empty = !number.value.trim();
    box.classList.toggle("untouched", empty);
    if (empty) slider.setAttribute("aria-valuetext", box.dataset.unset);
    else slider.removeAttribute("aria-valuetext");
  };
  const take = () => { number.value = slider.value.replace(".", mark); show(); };
  const follow = () => {
    const typed = Number(number.value.trim().replace(mark, "."));
    if (number.value.trim() && Number.isFinite(typed)) slider.value = typed;
    show();
  };
  slider.addEventListener("input", take);
  // Whoever clicks on the middle means it, although nothing moves.
  slider.addEventListener("click", take);
  number.addEventListener("input", follow);
  slider.parentElement.hidden = false;
  follow();
}

function refreshPart(box) {
  const every = 1000 * Number(box.dataset.refresh);
  const again = async () => {
    if (!document.hidden && !box.contains(document.activeElement)) {
      const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
      if (answer && answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(box.id);
        if (fresh && fresh.innerHTML !== box.innerHTML) box.innerHTML = fresh.innerHTML;
      }
    }
    setTimeout(again, every);
  };
  setTimeout(again, every);
}

// A play step by step: the arrow keys and the slider move, the boards show where the play is.
function replayPlay(box) {
  const frames = [...box.querySelectorAll("[data-frame]")];
  const slider = box.querySelector("input[type=range]");
  const output = box.querySelector("output");
  const cells = [...box.querySelectorAll("[data-cell]")];
  const cursor = box.querySelector(".cursor");
  const all = box.querySelector("[data-to=all]");
  let here = 0;
  const show = (to) => {
    here = Math.min(Math.max(0, to), frames.length - 1);
    const frame = frames[here];
    const every = all.getAttribute("aria-pressed") === "true";
    frames.forEach((one, index) => { one.hidden = !every && index !== here; one.classList.toggle("current", index === here); });
    slider.value = here + 1;
    output.textContent = `${here + 1} of ${frames.length}`;
    const weights = (frame.dataset.weights || "").split(",");
    cells.forEach((cell, index) => {
      const weight = Number(weights[index] || 0);
      cell.style.setProperty("--w", weight);
      cell.classList.toggle("chosen", weight > 0.999);
    });
    const path = new Set((frame.dataset.path || "").split(","));
    box.querySelectorAll(".tree [id^=node]").forEach((one) => one.classList.toggle("on", path.has(one.id.slice(4))));
    const last = box.querySelector(`#node${[...path].pop() || "0"}`);
    if (last) { // the tree may be larger than its pane: the last branch taken comes to the middle
      const pane = last.closest(".tree"), [branch, seen] = [last, pane].map((one) => one.getBoundingClientRect());
      pane.scrollBy(branch.left - seen.left - seen.width / 2, branch.top - seen.top - seen.height / 2);
    }
    box.querySelectorAll("[data-said]").forEach((one) => { one.hidden = Number(one.dataset.said) > here; });
    if (cursor) cursor.setAttribute("x", Number(cursor.dataset.pad) + here * Number(cursor.dataset.step));
  };
  const moves = { first: () => 0, back: () => here - 1, on: () => here + 1, last: () => frames.length - 1, all: () => here };
  box.querySelectorAll("[data-to]").forEach((button) => button.addEventListener("click", () => {
    if (button === all) all.setAttribute("aria-pressed", String(all.getAttribute("aria-pressed") !== "true"));
    show(moves[button.dataset.to]());
  }));
  box.querySelectorAll("[data-go]").forEach((bar) => bar.addEventListener("click", () => show(Number(bar.dataset.go))));
  slider.addEventListener("input", () => show(Number(slider.value) - 1));
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input:not([type=range]), textarea, select, .scroll") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.toLowerCase() === "t") {
      const closed = [...box.querySelectorAll(".current .more details")].some((one) => !one.open);
      box.querySelectorAll(".more details").forEach((one) => { one.open = closed; });
    }
    const to = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
    if (!to) return;
    event.preventDefault();
    show(moves[to]());
  });
  box.querySelector(".controls").hidden = false;
  show(location.hash ? Number(location.hash.slice(1)) - 1 : frames.length - 1);
  if (box.dataset.follow) followPlay(box, () => (here === frames.length - 1 ? "" : `#${here + 1}`));
}

function followPlay(box, where) {
  const again = async () => {
    const answer = await fetch(location.pathname, { credentials: "same-origin" }).catch(() => null);
    if (answer && answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-replay]");
      if (fresh && (fresh.dataset.frames !== box.dataset.frames || !fresh.dataset.follow)) {
        history.replaceState(null, "", location.pathname + where());
        location.reload();
        return;
      }
    }
    setTimeout(again, 1000 * Number(box.dataset.follow));
  };
  setTimeout(again, 1000 * Number(box.dataset.follow));
}

function workOut(form) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await fetch(`${form.action}?${new URLSearchParams(new FormData(form))}`, { credentials: "same-origin" }).catch(() => null);
    if (answer) form.querySelector("output").textContent = await answer.text();
  });
}

// What cannot be undone is asked for once more.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-confirm]");
  if (button && !confirm(button.dataset.confirm)) event.preventDefault();
});

// A small picture of a game: the cells of its table, the levels of its tree, or its seats.
function drawSketch(box) {
  const rows = JSON.parse(box.dataset.rows);
  const up = 48 / rows.length;
  const add = (name, places) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(places).forEach(([key, value]) => shape.setAttribute(key, value));
    box.append(shape);
  };
  rows.forEach((row, level) => {
    const across = 64 / row.length;
    const below = rows[level + 1] || [];
    row.forEach((shade, index) => {
      const x = across * index, y = up * level;
      if (box.dataset.sketch === "table") {
        add("rect", { x: x + 1, y: y + 1, width: across - 2, height: up - 2, "fill-opacity": 0.12 + 0.88 * shade });
        return;
      }
      const share = below.length / row.length;
      for (let to = Math.floor(share * index); to < Math.ceil(share * (index + 1)); to += 1) {
        const end = (64 / below.length) * (to + 0.5);
        add("line", { x1: x + across / 2, y1: y + up / 2, x2: end, y2: y + 1.5 * up });
      }
      add("circle", { cx: x + across / 2, cy: y + up / 2, r: 3 });
    });
  });
}

// Which columns of a table are shown is kept in this browser; the box stays when the table in it is read again.
function chooseColumns(box) {
  const heads = [...box.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  const kept = `columns ${box.id}`;
  const hidden = new Set((localStorage.getItem(kept) || "").split(" ").filter(Boolean));
  const choice = document.createElement("details");
  const title = document.createElement("summary");
  choice.className = "columns";
  title.textContent = "Columns";
  choice.append(title);
  heads.forEach((name, index) => {
    const number = String(index + 1);
    const label = document.createElement("label");
    const tick = document.createElement("input");
    const show = () => box.classList.toggle(`without${number}`, hidden.has(number));
    tick.type = "checkbox";
    tick.checked = !hidden.has(number);
    tick.addEventListener("change", () => {
      if (tick.checked) hidden.delete(number);
      else hidden.add(number);
      localStorage.setItem(kept, [...hidden].join(" "));
      show();
    });
    label.append(tick, ` ${name}`);
    choice.append(label);
    show();
  });
  if (heads.length) box.before(choice);
}

function enliven() {
  document.querySelectorAll("[data-answer]").forEach(noteAbsence);
  document.querySelectorAll("[data-calculate]").forEach(workOut);
  const wrong = document.querySelector("[aria-invalid=true]");
  if (wrong) {
    document.title = `! ${document.title}`;
    (wrong.matches("input, textarea, select") ? wrong : wrong.querySelector("input")).focus();
  }
  document.querySelectorAll("[data-slider]").forEach(joinSlider);
  document.querySelectorAll("[data-replay]").forEach(replayPlay);
  document.querySelectorAll("[data-live]").forEach(goOnByItself);
  document.querySelectorAll("[data-once]").forEach(sendOnce);
  document.querySelectorAll("[data-chat]").forEach(writeToGroup);
  document.querySelectorAll("[data-left]").forEach(countDown);
  document.querySelectorAll("[data-mixture]").forEach(joinSliders);
  document.querySelectorAll("[data-refresh]").forEach(refreshPart);
  document.querySelectorAll("[data-copy]").forEach((field) => field.addEventListener("focus", () => field.select()));
  document.querySelectorAll("[data-wide-open]").forEach(openWhereWide);
  document.querySelectorAll("[data-copy-from]").forEach(copyFrom);
  document.querySelectorAll("[data-filter]").forEach(filterBy);
  document.querySelectorAll("[data-columns]").forEach(chooseColumns);
  document.querySelectorAll("[data-sketch]").forEach(drawSketch);
}
enliven();
