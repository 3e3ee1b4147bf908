// Live parts of the pages. Every page works without this script; with it, pages go on by themselves.
"use strict";

function goOnByItself(box) {
  const source = new EventSource(box.dataset.live);
  source.onmessage = (event) => {
    if (JSON.parse(event.data) !== box.dataset.version) {
      source.close();
      location.replace(location.pathname);
    }
  };
  window.addEventListener("pagehide", () => source.close());
}

function sendOnce(form) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}

function countDown(clock) {
  const end = performance.now() + 1000 * Number(clock.dataset.left);
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    clock.textContent = left === 1 ? "1 second left" : `${left} seconds left`;
    clock.classList.toggle("soon", left <= 10);
    if (left > 0) setTimeout(tick, 250);
  };
  tick();
}

function joinSliders(box) {
  const rows = [...box.querySelectorAll(".share")].map((row) => row.querySelectorAll("input"));
  const sum = box.querySelector(".sum");
  const add = () => {
    const total = rows.reduce((sofar, [, number]) => sofar + (Number(number.value.replace(",", ".")) || 0), 0);
    const rounded = Math.round(total * 1e4) / 1e4;
    sum.textContent = rounded === 100 ? "100 % – good" : `${rounded} % of 100 %`;
    sum.classList.toggle("good", rounded === 100);
  };
  for (const [slider, number] of rows) {
    slider.addEventListener("input", () => { number.value = slider.value; add(); });
    number.addEventListener("input", () => { slider.value = number.value; add(); });
  }
  add();
}

function refreshPart(box) {
  const every = 1000 * Number(box.dataset.refresh);
  const again = async () => {
    if (!document.hidden) {
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

document.querySelectorAll("[data-live]").forEach(goOnByItself);
document.querySelectorAll("[data-once]").forEach(sendOnce);
document.querySelectorAll("[data-left]").forEach(countDown);
document.querySelectorAll("[data-mixture]").forEach(joinSliders);
document.querySelectorAll("[data-refresh]").forEach(refreshPart);
document.querySelectorAll("[data-copy]").forEach((field) => field.addEventListener("focus", () => field.select()));
