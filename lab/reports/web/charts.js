// The plots: figures over threads, series over time, the explorer of all metrics.
"use strict";

const LATENCY_NAMES = { mean_ms: "mean", p50_ms: "p50", p95_ms: "p95", p99_ms: "p99", p999_ms: "p99.9", max_ms: "maximum" };

function spreadOf(values) {
  return { mid: median(values), low: Math.min(...values), high: Math.max(...values) };
}

// A figure over threads, or where no workload has several numbers of them, of workloads side by side.
function threadsChart(data) {
  const byThreads = data.scales;
  const plot = document.getElementById("threads-plot");

  function valueOf(run, figureName, operation) {
    if (figureName === "throughput" || figureName === "ratio") return run.throughput;
    return (run.latency[operation] || {})[figureName];
  }

  // The first label's median throughput.
  function baseOf(point) {
    const values = data.runs.filter((run) => data.points[run.point] === point && run.label === 0 && run.throughput);
    return values.length ? median(values.map((run) => run.throughput)) : null;
  }

  function show(form) {
    const chosen = data.points.filter((point) => point.condition === form.condition.value
      && (!byThreads || point.workload === form.workload.value));
    const traces = [];
    data.labels.forEach((label, number) => {
      const at = [];
      const spreads = [];
      for (const point of chosen) {
        const values = data.runs.filter((run) => data.points[run.point] === point && run.label === number)
          .map((run) => valueOf(run, form.figure.value, form.operation.value)).filter((value) => value != null);
        const one = form.figure.value === "ratio" ? baseOf(point) : 1;
        if (values.length && one) {
          at.push(byThreads ? point.threads : point.workload);
          spreads.push(spreadOf(values.map((value) => value / one)));
        }
      }
      if (!at.length) return;
      const several = spreads.some((spread) => spread.low !== spread.high);
      traces.push({
        name: label, x: at, y: spreads.map((spread) => spread.mid), type: byThreads ? "scatter" : "bar",
        mode: "lines+markers", marker: { color: colourOf(number) }, line: { color: colourOf(number) },
        hovertemplate: "%{y:,.5~r}",
        error_y: {
          type: "data", symmetric: false, visible: several, thickness: 1.2, color: byThreads ? colourOf(number) : undefined,
          array: spreads.map((spread) => spread.high - spread.mid), arrayminus: spreads.map((spread) => spread.mid - spread.low),
        },
      });
    });
    const units = unique(data.runs.filter((run) => chosen.includes(data.points[run.point])).map((run) => run.unit));
    const title = { throughput: units.join(" or "), ratio: "of " + data.labels[0] + "'s" }[form.figure.value] || "ms";
    const xaxis = byThreads ? {
      title: { text: "threads" }, type: form.log_x.checked ? "log" : "linear", tickvals: unique(chosen.map((point) => point.threads)),
    } : { type: "category" };
    draw(plot, traces, {
      xaxis, barmode: "group",
      yaxis: { title: { text: title }, type: form.log_y.checked ? "log" : "linear", rangemode: "tozero" },
    }, () => show(form));
  }

  controls("threads-controls", (form, used) => {
    if (!used) {
      fill(form.condition, unique(data.points.map((point) => point.condition)).map((name) => [name, name || "all"]));
      form.log_x.closest("label").hidden = !byThreads;
      form.log_x.checked = Math.max(...data.points.map((point) => point.threads)) >= 64;
    }
    const here = data.points.filter((point) => point.condition === form.condition.value);
    fill(form.workload, byThreads ? unique(here.map((point) => point.workload)).map((name) => [name, name]) : []);
    const runs = data.runs.filter((run) => here.includes(data.points[run.point])
      && (!byThreads || data.points[run.point].workload === form.workload.value));
    const known = Object.keys(LATENCY_NAMES).filter((name) => runs.some(
      (run) => Object.values(run.latency).some((latency) => latency[name] != null)));
    const ratio = data.labels.length > 1 ? [["ratio", "throughput, ratio to " + data.labels[0]]] : [];
    fill(form.figure, [["throughput", "throughput"], ...ratio, ...known.map((name) => [name, LATENCY_NAMES[name] + " latency"])]);
    // Of workloads side by side only ratios have one scale.
    if (!used && !byThreads && ratio.length && runs.length > 1 && unique(runs.map((run) => run.point)).length > 1) {
      form.figure.value = "ratio";
    }
    const operations = unique(runs.flatMap((run) => Object.keys(run.latency)));
    fill(form.operation, operations.map((name) => [name, name]));
    if (["throughput", "ratio"].includes(form.figure.value)) form.operation.closest("label").hidden = true;
    show(form);
  });
}

function pointChoices(data, has) {
  return data.points.map((point, number) => [number, point.name])
    .filter(([number]) => data.runs.some((run) => run.point === number && has(run)));
}

function runName(data, run, several) {
  return data.labels[run.label] + (several ? ", " + run.repetition : "");
}

// The mean of several runs' series at each second that all of them have: one that ended later is no mean.
function meanSeries(list) {
  const sums = new Map();
  for (const series of list) {
    series.at.forEach((second, i) => {
      const entry = sums.get(second) || [0, 0];
      sums.set(second, [entry[0] + series.values[i], entry[1] + 1]);
    });
  }
  const at = [...sums.keys()].filter((second) => sums.get(second)[1] === list.length).sort((a, b) => a - b);
  return { at, values: at.map((second) => sums.get(second)[0] / list.length) };
}

function lineOf(number, series, name, dash, width) {
  return {
    name, x: series.at, y: series.values, type: "scatter", mode: series.at.length > 1 ? "lines" : "markers",
    line: { color: colourOf(number), width: width || 2, dash: dash || "solid" }, marker: { color: colourOf(number) },
    hovertemplate: "%{y:,.5~r}",
  };
}

function timeChart(data) {
  const latencies = document.getElementById("time-latency");

  function traces(form, name) {
    const made = [];
    data.labels.forEach((label, number) => {
      const runs = data.runs.filter((run) => run.point === Number(form.point.value) && run.label === number && run.series[name]);
      if (form.repetition.value === "mean") {
        const series = meanSeries(runs.map((run) => run.series[name]));
        if (series.at.length) made.push(lineOf(number, series, label));
        return;
      }
      const chosen = runs.filter((run) => form.repetition.value === "each" || run.repetition === Number(form.repetition.value));
      for (const run of chosen) {
        made.push(lineOf(number, run.series[name], runName(data, run, runs.length > 1),
          ["solid", "dash", "dot", "dashdot"][(run.repetition - 1) % 4], 1.5));
      }
    });
    return made;
  }

  function show(form) {
    const mode = form.from_zero.checked ? "tozero" : "normal";
    const run = data.runs.find((one) => one.point === Number(form.point.value));
    const unitOf = (name) => ((data.runs.find((one) => one.point === Number(form.point.value) && one.series[name]) || run)
      .series[name] || { unit: "" }).unit;
    draw(document.getElementById("time-plot"), traces(form, data.throughput),
      { xaxis: { title: { text: "seconds" } }, yaxis: { title: { text: unitOf(data.throughput) }, rangemode: mode } }, () => show(form));
    latencies.hidden = !form.latency.value;
    if (form.latency.value) {
      draw(document.getElementById("time-latency-plot"), traces(form, form.latency.value),
        { xaxis: { title: { text: "seconds" } }, yaxis: { title: { text: "ms" }, rangemode: mode } }, () => show(form));
    }
  }

  controls("time-controls", (form, used) => {
    if (!used) fill(form.point, pointChoices(data, (run) => run.series[data.throughput]));
    const here = data.runs.filter((run) => run.point === Number(form.point.value));
    fill(form.latency, data.latencies.filter((name) => here.some((run) => run.series[name])).map((name) => [name, name]));
    const repetitions = unique(here.map((run) => run.repetition)).sort((a, b) => a - b);
    fill(form.repetition, repetitions.length > 1
      ? [["mean", "their mean"], ["each", "each"], ...repetitions.map((number) => [number, "only " + number])] : [["each", "each"]]);
    show(form);
  });
}

function smoothed(series, seconds) {
  if (seconds <= 1) return series;
  const made = { at: [], values: [], unit: series.unit };
  let stretch = [];
  let end = null;
  const close = () => {
    if (stretch.length) {
      made.at.push(end);
      made.values.push(mean(stretch));
    }
    stretch = [];
  };
  series.at.forEach((second, i) => {
    const next = Math.ceil(second / seconds) * seconds;
    if (next !== end) close();
    end = next;
    stretch.push(series.values[i]);
  });
  close();
  return made;
}

function explorer(data) {
  const plot = document.getElementById("explorer-plot");
  const box = document.getElementById("explorer-runs");
  const body = document.querySelector("#explorer-table tbody");

  function runsOf(form) {
    return data.runs.filter((run) => run.point === Number(form.point.value) && Object.keys(run.series).length);
  }

  function listRuns(form) {
    const runs = runsOf(form);
    const several = unique(runs.map((run) => run.repetition)).length > 1;
    box.replaceChildren(box.querySelector("legend"), ...runs.map((run) => {
      const label = document.createElement("label");
      label.className = "check s" + run.label;
      const input = document.createElement("input");
      Object.assign(input, { type: "checkbox", name: "run", checked: run.repetition === runs[0].repetition });
      input.run = run;
      label.append(input, " " + runName(data, run, several));
      return label;
    }));
  }

  function listMetrics(form) {
    const wanted = form.search.value.trim().toLowerCase();
    const all = unique(runsOf(form).flatMap((run) => Object.keys(run.series)));
    const known = [data.throughput, ...data.latencies].filter((name) => all.includes(name));
    const names = [...known, ...all.filter((name) => !known.includes(name)).sort()]
      .filter((name) => name.toLowerCase().includes(wanted));
    fill(form.metric, names.map((name) => [name, name]), true);
    fill(form.second, [["", "nothing"], ...names.map((name) => [name, name])], true);
  }

  function row(name, series) {
    const line = document.createElement("tr");
    const head = document.createElement("th");
    Object.assign(head, { className: "name", scope: "row", textContent: name });
    const cells = [Math.min(...series.values), mean(series.values), Math.max(...series.values)].map((value) => {
      const cell = document.createElement("td");
      cell.textContent = figure(value);
      return cell;
    });
    line.append(head, ...cells);
    return line;
  }

  function show(form) {
    const runs = [...box.querySelectorAll("input:checked")].map((input) => input.run);
    const several = unique(runsOf(form).map((run) => run.repetition)).length > 1;
    const traces = [];
    const rows = [];
    const units = {};
    [form.metric.value, form.second.value].filter(Boolean).forEach((metric, axis) => {
      for (const run of runs.filter((one) => one.series[metric])) {
        const series = smoothed(run.series[metric], Number(form.smooth.value));
        const name = runName(data, run, several) + (form.second.value ? ": " + metric : "");
        const trace = lineOf(run.label, series, name, axis ? "dot" : "solid", 1 + 1 / run.repetition);
        if (axis) trace.yaxis = "y2";
        traces.push(trace);
        rows.push(row(name, run.series[metric]));
        units[axis] = run.series[metric].unit;
      }
    });
    body.replaceChildren(...rows);
    const layout = { xaxis: { title: { text: "seconds" } }, yaxis: { title: { text: units[0] }, rangemode: "tozero" } };
    if (1 in units) layout.yaxis2 = { title: { text: units[1] }, rangemode: "tozero" };
    draw(plot, traces, layout, () => show(form));
  }

  controls("explorer-controls", (form, used) => {
    if (!used) fill(form.point, pointChoices(data, (run) => Object.keys(run.series).length));
    if (!used || used === "point") listRuns(form);
    if (!used || used === "point" || used === "search") listMetrics(form);
    show(form);
  });
}

load().then((data) => {
  threadsChart(data);
  if (document.getElementById("time")) timeChart(data);
  if (document.getElementById("explorer")) explorer(data);
  statusTable(data);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  matchMedia("print").addEventListener("change", redrawAll);
  document.documentElement.dataset.ready = "yes";
}, (error) => {
  document.getElementById("no-charts").hidden = false;
  document.getElementById("no-charts").title = String(error);
  for (const element of document.querySelectorAll(".plot, .controls:not(#variables-controls)")) element.hidden = true;
});
