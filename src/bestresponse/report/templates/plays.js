"use strict";
// The list of plays, and the one that is open: #12 in the address is play 12. Every text is put into
// the page as a text node, never as markup.
const WRONG = 1, UNREAD = 2, REPAIRED = 4;
const STEP = 100;
const FILTERS = { wrong: WRONG, unread: UNREAD, repaired: REPAIRED };
const list = document.getElementById("list");
const opened = document.getElementById("play");
const state = document.getElementById("status");
const choose = document.getElementById("choose");
const body = document.querySelector("#rows tbody");
const more = document.getElementById("more");
const parts = new Map();
let index = null;
let fitting = [];
let shown = 0;

function receiveIndex(received) {
  index = received;
  select();
  follow();
}

function receivePlays(number, plays) {
  parts.set(number, plays);
  follow();
}

function load(name) {
  const script = document.createElement("script");
  script.src = `plays/${name}`;
  script.onerror = () => { state.textContent = `plays/${name} is missing beside this page, or this page may not load it.`; };
  document.body.append(script);
}

function make(tag, className, ...content) {
  const part = document.createElement(tag);
  if (className) part.className = className;
  part.append(...content);
  return part;
}

function fit() {
  for (const place of document.querySelectorAll(".scroll")) {
    place.classList.remove("narrow");
    if (place.scrollWidth > place.clientWidth + 1) place.classList.add("narrow");
  }
}

// The list

function select() {
  const only = FILTERS[choose.elements.only.value] || 0;
  const words = choose.elements.find.value.toLowerCase().split(/\s+/).filter(Boolean);
  fitting = [];
  index.rows.forEach((row, number) => {
    if (only && !(row[5] & only)) return;
    const text = words.length ? `${row[0]} ${row[1]}`.toLowerCase() : "";
    if (words.every((word) => text.includes(word))) fitting.push(number);
  });
  const column = { worst: 4, cost: 6 }[choose.elements.order.value];
  if (column) fitting.sort((a, b) => (index.rows[b][column] ?? -1) - (index.rows[a][column] ?? -1) || a - b);
  body.replaceChildren();
  shown = 0;
  showMore();
}

function showMore() {
  const next = fitting.slice(shown, shown + STEP);
  body.append(...next.map(makeRow));
  shown += next.length;
  more.hidden = shown >= fitting.length;
  more.textContent = `Show ${Math.min(STEP, fitting.length - shown)} more of ${fitting.length.toLocaleString("en")}`;
  fit();
}

function makeRow(number) {
  const [name, players, answers, payoffs, loss, flags, tokens] = index.rows[number];
  const link = make("a", "", `${number + 1}. ${name}`);
  link.href = `#${number + 1}`;
  const cells = [
    ["Play", "left", link, ...makeBadges(flags)],
    ["Players", "left", players],
    ["Payoffs", "left", payoffs],
    ["Loss", "right", loss === null ? "–" : format(loss)],
    ["Answers", "right", answers.toLocaleString("en")],
    ["Tokens", "right", tokens.toLocaleString("en")],
  ];
  const row = make("tr", "");
  for (const [label, align, ...content] of cells) {
    const cell = make("td", align, ...content);
    cell.dataset.label = label;
    row.append(cell);
  }
  return row;
}

function makeBadges(flags) {
  const badges = [];
  if (flags & WRONG) badges.push(make("span", "badge bad", "wrong"));
  if (flags & UNREAD) badges.push(make("span", "badge bad", "unread"));
  if (flags & REPAIRED) badges.push(make("span", "badge", "repaired"));
  return badges;
}

function format(number) {
  if (Math.abs(number) < 1e-9) return "0";
  return Number(number.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });
}

// One play

function follow() {
  if (!index) return;
  // the link that skips to the content is no play
  if (location.hash === "#content" && list.hidden !== opened.hidden) return;
  const number = Number(location.hash.slice(1)) - 1;
  const asked = Number.isInteger(number) && number >= 0 && number < index.rows.length;
  list.hidden = asked;
  opened.hidden = !asked;
  if (!asked) {
    const all = index.rows.length < index.total ? `the first ${index.rows.length.toLocaleString("en")} of ${index.total.toLocaleString("en")}` : index.rows.length.toLocaleString("en");
    state.textContent = `${fitting.length.toLocaleString("en")} of ${all} plays`;
    fit();
    return;
  }
  const part = index.starts.findLastIndex((start) => start <= number);
  if (!parts.has(part)) {
    parts.set(part, null);
    load(`${String(part + 1).padStart(4, "0")}.js`);
  }
  const plays = parts.get(part);
  if (plays === null) {
    state.textContent = "Loading the play …";
    opened.replaceChildren();
    return;
  }
  state.textContent = "";
  showPlay(number, plays[number - index.starts[part]]);
}

function showPlay(number, play) {
  const place = fitting.indexOf(number);
  const around = make("nav", "around");
  around.setAttribute("aria-label", "Plays");
  const links = [["All plays", "#"], ["Previous", fitting[place - 1]], ["Next", fitting[place + 1]]];
  for (const [words, target] of links) {
    if (target === undefined || (place < 0 && target !== "#")) continue;
    const link = make("a", "", words);
    link.href = target === "#" ? "#" : `#${target + 1}`;
    around.append(link);
  }
  const heading = make("h2", "", `${number + 1}. ${play.name}`, ...makeBadges(index.rows[number][5]));
  const content = [around, heading];
  if (play.void) content.push(make("p", "note warning", `This play counts for nothing: ${play.void}`));
  content.push(makeFacts(play.facts));
  if (play.rules) content.push(makeFolded("The rules as they were told", make("pre", "", play.rules)));
  const turns = make("ol", "stage");
  let stage = -1;
  for (const turn of play.turns) {
    const many = play.stages > 1 && turn.stage !== stage;
    stage = turn.stage;
    turns.append(makeTurn(turn, many ? play.earned[stage] : ""));
  }
  content.push(turns);
  opened.replaceChildren(...content);
  scrollTo(0, 0);
}

function makeFacts(facts) {
  const names = make("dl", "facts");
  for (const [name, value] of facts) names.append(make("div", "", make("dt", "", name), make("dd", "", value)));
  return names;
}

function makeFolded(title, ...content) {
  return make("details", "", make("summary", "", title), ...content);
}

function makeTurn(turn, earned) {
  const main = make("div", "");
  const heading = make("p", "heading", make("strong", "", turn.role));
  if (turn.who && turn.who !== turn.role) heading.append(` (${turn.who})`);
  if (turn.status !== "valid") heading.append(make("span", turn.unread ? "badge bad" : "badge", turn.status));
  if (turn.standIn) heading.append(make("span", "badge", `stand-in: ${turn.standIn}`));
  main.append(heading, make("p", "move", turn.move));
  if (turn.how) main.append(make("p", "remark", `How it was read: ${turn.how}`));
  if (turn.words) main.append(make("h3", "", "Reasoning and reply"), make("blockquote", "said", turn.words));
  if (turn.checked) main.append(make("h3", "", `Claims: ${turn.checked}`));
  if (turn.claims.length) {
    const claims = turn.claims.map(([verdict, words, right]) => make("li", "", make("b", "", verdict), `: ${words}`, right ? ` – ${right}` : ""));
    main.append(make("ul", "claims", ...claims));
  }
  if (turn.situation) main.append(makeFolded(`What ${turn.role} was told`, make("pre", "", turn.situation)));
  for (const call of turn.calls) main.append(makeCall(call));
  const aside = make("aside", "", ...turn.beside.map(([name, value]) => make("p", "", `${name} `, make("b", "", value))));
  if (earned) aside.prepend(make("p", "", "Earned before this: ", make("b", "", earned)));
  return make("li", "turn", main, aside);
}

function makeCall(call) {
  const folded = makeFolded(`Prompt and reply of ${call.model} (${call.cost})`);
  for (const [role, text] of call.messages) folded.append(make("h3", "", role), make("pre", "", text));
  folded.append(make("h3", "", "reply"), make("pre", "", call.reply));
  return folded;
}

choose.addEventListener("input", () => { select(); follow(); });
choose.addEventListener("submit", (event) => event.preventDefault());
more.addEventListener("click", showMore);
addEventListener("hashchange", follow);
addEventListener("resize", fit);
load("index.js");
