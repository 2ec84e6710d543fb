// What the page's other scripts share: the packed parts, drawing in the page's colours, filling controls.
"use strict";

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// Resolves to the data when plotly.js is there too.
async function load() {
  const [text, program] = await Promise.all([unpack("report-data"), unpack("plotly-js")]);
  const script = document.createElement("script");
  script.textContent = program;
  document.head.append(script);
  return JSON.parse(text);
}

function colourOf(number) {
  return getComputedStyle(document.documentElement).getPropertyValue("--s" + number).trim();
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// As form.py writes figures.
function figure(value) {
  if (value === undefined || value === null || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : undefined;
  return digits === undefined ? String(Number(value.toPrecision(3)))
    : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function unique(values) {
  return [...new Set(values)];
}

// Fills a select with [value, text] pairs, keeping what was chosen where it is still there. Hidden with one choice.
function fill(select, pairs, always) {
  const before = select.value;
  select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value)));
  if (pairs.some(([value]) => String(value) === before)) select.value = before;
  select.closest("label").hidden = !always && pairs.length < 2;
}

const drawn = new Map(); // By element: what draws it again.

// Draws traces into an element; an empty list leaves a sentence. redraw: called when colours or sizes change.
function draw(element, traces, layout, redraw) {
  drawn.set(element, redraw);
  if (!traces.length) {
    Plotly.purge(element);
    element.textContent = "Nothing was recorded for this choice.";
    return undefined;
  }
  if (element.querySelector(".plotly") === null) element.replaceChildren();
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  const line = style.getPropertyValue("--line").trim();
  const printing = matchMedia("print").matches;
  const narrow = element.clientWidth < 600;
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  const whole = {
    ...layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: narrow ? 11 : 13 },
    margin: { l: 50, r: layout.yaxis2 ? 50 : 10, t: 10, b: 40 }, hovermode: layout.hovermode || "x unified",
    hoverlabel: { bgcolor: style.getPropertyValue("--card").trim(), font: { color: ink } }, separators: ".,",
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: narrow ? 10 : 12 } },
    showlegend: true, autosize: !printing, dragmode: narrow ? false : "zoom",
    xaxis: { ...axis, ...layout.xaxis }, yaxis: { ...axis, ...layout.yaxis },
  };
  if (layout.yaxis2) whole.yaxis2 = { ...axis, ...layout.yaxis2, overlaying: "y", side: "right", showgrid: false };
  if (printing) Object.assign(whole, { width: 680, height: 280 });
  return Plotly.react(element, traces, whole, {
    responsive: true, displaylogo: false, displayModeBar: narrow ? false : undefined,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "toggleSpikelines"],
  });
}

function redrawAll() {
  for (const redraw of drawn.values()) redraw();
}

// Calls update() now and whenever a control of the form is used.
function controls(id, update) {
  const form = document.getElementById(id);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => update(form.elements, event.target.name));
  update(form.elements, "");
  return form.elements;
}
