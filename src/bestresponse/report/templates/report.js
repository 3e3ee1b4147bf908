"use strict";
// Nothing is cut: a table that is wider than its place becomes a list of its rows, code that is
// wider is wrapped. Asked again whenever the window changes.
function fit() {
  for (const place of document.querySelectorAll(".scroll, pre")) {
    place.classList.remove("narrow");
    if (place.scrollWidth > place.clientWidth + 1) place.classList.add("narrow");
  }
}
fit();
addEventListener("resize", fit);
for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", fit);
// Filter a long table, sort any table by a click on a column's head: numbers by data-key, text by the reader's alphabet, absent cells last.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  if (body.rows.length >= 12) addFilter(table, body);
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      body.append(...[...body.rows].sort((a, b) => compare(a.cells[index], b.cells[index], direction)));
    });
  });
}

function addFilter(table, body) {
  const field = document.createElement("input");
  field.type = "search";
  field.className = "filter";
  field.placeholder = "Filter rows";
  field.setAttribute("aria-label", "Show only rows that hold this text");
  field.addEventListener("input", () => {
    const terms = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !terms.every((term) => text.includes(term));
    }
  });
  table.parentElement.before(field);
}

function compare(a, b, direction) {
  const absent = [a, b].map((cell) => cell.querySelector(".absent") !== null);
  if (absent[0] || absent[1]) return absent[0] - absent[1];
  const numbers = [a, b].map((cell) => Number(cell.dataset.key ?? NaN));
  if (!numbers.some(Number.isNaN)) return direction * Math.sign(numbers[0] - numbers[1]);
  return direction * a.textContent.trim().localeCompare(b.textContent.trim(), undefined, { numeric: true });
}
