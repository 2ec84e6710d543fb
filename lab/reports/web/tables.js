// The tables that are filtered or filled here, and the button that copies.
"use strict";

function has(text, wanted) {
  return text.toLowerCase().includes(wanted.trim().toLowerCase());
}

function variablesTable() {
  const rows = [...document.querySelectorAll("#variables-table tbody tr")];
  if (!rows.length) return;
  controls("variables-controls", (form) => {
    let count = 0;
    for (const row of rows) {
      row.hidden = !((form.which.value === "all" || row.classList.contains(form.which.value))
        && has(row.cells[0].textContent, form.search.value));
      count += !row.hidden;
    }
    form.count.textContent = count + " of " + rows.length;
  });
}

function filters() {
  for (const input of document.querySelectorAll("[data-filters]")) {
    const rows = [...document.querySelectorAll("#" + input.dataset.filters + " tbody tr")];
    input.form.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("input", () => {
      const wanted = input.value.split(/\s+/);
      for (const row of rows) row.hidden = !wanted.every((word) => has(row.textContent, word));
    });
  }
}

// The counters of a measurement, side by side.
function statusTable(data) {
  if (!document.getElementById("status")) return;
  const table = document.getElementById("status-table");
  const cell = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });

  function valuesOf(point) {
    const labels = data.labels.map((label, number) => [label, data.runs.filter(
      (run) => run.point === point && run.label === number && Object.keys(run.status).length)]).filter(([, runs]) => runs.length);
    const names = unique(labels.flatMap(([, runs]) => runs.flatMap((run) => Object.keys(run.status)))).sort();
    const rows = names.map((name) => [name, ...labels.map(([, runs]) => {
      const values = runs.map((run) => run.status[name]).filter((value) => value !== undefined);
      return values.length ? mean(values) : undefined;
    })]);
    return [labels.map(([label]) => label), rows];
  }

  function differ(values) {
    const known = values.filter((value) => value !== undefined);
    const most = Math.max(...known.map(Math.abs));
    return known.length < values.length || Math.max(...known) - Math.min(...known) > most / 10;
  }

  controls("status-controls", (form, used) => {
    if (!used) fill(form.point, pointChoices(data, (run) => Object.keys(run.status).length));
    const [labels, rows] = valuesOf(Number(form.point.value));
    const shown = rows.filter(([name, ...values]) => has(name, form.search.value)
      && (form.which.value === "all" || differ(values)));
    const head = [cell("th", "counter"), ...labels.map((label) => cell("th", label))];
    head[0].className = "name";
    table.tHead.rows[0].replaceChildren(...head);
    table.tBodies[0].replaceChildren(...shown.map(([name, ...values]) => {
      const row = document.createElement("tr");
      row.append(Object.assign(cell("th", name), { className: "name", scope: "row" }),
        ...values.map((value) => cell("td", figure(value))));
      return row;
    }));
    form.count.textContent = shown.length + " of " + rows.length;
  });
}

function copyButton() {
  const said = document.getElementById("copied");
  document.getElementById("copy").addEventListener("click", async () => {
    const text = await unpack("report-markdown");
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text }); // A page from a file may be refused.
      document.body.append(area);
      area.select();
      said.textContent = document.execCommand("copy") ? "copied" : "the browser refuses; report.md beside this file has it";
      area.remove();
    }
  });
}

variablesTable();
filters();
copyButton();
