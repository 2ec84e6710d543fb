// Shows the values of all lines of a chart at the second under the pointer.
"use strict";
const tip = document.getElementById("tip");
for (const chart of document.querySelectorAll("svg[data-unit]")) {
  const width = chart.viewBox.baseVal.width;
  const left = Number(chart.dataset.left);
  const inner = width - left - Number(chart.dataset.right);
  const cursor = chart.querySelector(".cursor");
  const lines = [...chart.querySelectorAll("polyline")].map((line) => ({
    label: line.dataset.label,
    points: line.dataset.values.split(" ").map((pair) => pair.split(":").map(Number)),
  }));
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = (event.clientX - box.left) * (width / box.width);
    const second = ((x - left) / inner) * Number(chart.dataset.xmax);
    if (second < 0 || second > Number(chart.dataset.xmax)) return hide();
    const rows = lines.map((line) => {
      const near = line.points.reduce((a, b) => (Math.abs(b[0] - second) < Math.abs(a[0] - second) ? b : a));
      return [line.label, near];
    });
    tip.replaceChildren();
    const head = document.createElement("div");
    head.textContent = Math.round(second) + " s";
    tip.append(head);
    for (const [label, point] of rows) {
      const row = document.createElement("div");
      row.textContent = label + ": " + point[1].toLocaleString() + " " + chart.dataset.unit;
      tip.append(row);
    }
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.style.visibility = "visible";
    tip.hidden = false;
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = event.clientY + 14 + "px";
  });
  const hide = () => {
    tip.hidden = true;
    cursor.style.visibility = "hidden";
  };
  chart.addEventListener("pointerleave", hide);
}
