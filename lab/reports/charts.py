"""The charts of a report's study, PNG and PDF: throughput and p95 over threads or workloads, throughput over time."""

from lab.record import form
from lab.record.gains import FIGURES, gains
from lab.record.run import THROUGHPUT
from lab.reports import style

_GAIN_MAX = 100  # In percent. A higher end of an interval is cut, with an arrow and the figure.
_PANELS_MAX = 12  # In one figure over time; the page has all panels.


def _p95(run):
    latency = run.main_latency()
    return latency.p95_ms if latency else None


class _Charts:
    """Draws one study into one directory."""

    def __init__(self, study, directory):
        self.study, self.directory = study, directory
        self.labels = study.labels()
        self.colours = style.shades(self.labels)
        self.by_threads = study.scales()
        self.drawn = []

    def over_points(self, name, title, value):
        """A panel for each condition and workload: bars, or lines over several numbers of threads."""
        panels = {}
        for point, row in self.study.compared(value):
            if row:
                panels.setdefault((point.condition, point.workload), []).append((point, row))
        if not panels:
            return
        figure, axes = _grid(len(panels))
        for (condition, workload), each in zip(panels, axes):
            (self._lines if self.by_threads else self._bars)(each, panels[condition, workload])
            each.set_title(f"{workload}\n{condition}" if condition else workload, fontsize=8)
            each.set_ylim(bottom=0)
        self._finish(figure, axes, name, title)

    def _finish(self, figure, axes, name, title, legend=None):
        """legend: where it is, as matplotlib has it; None: within the first panel."""
        handles = {}
        for each in axes:
            handles |= {label: handle for handle, label in zip(*each.get_legend_handles_labels())}
        if handles:
            axes[0].legend(handles.values(), handles.keys(), fontsize=8, **(legend or {}))
        figure.suptitle(title, x=0.01, ha="left")
        self.drawn += style.save(figure, self.directory, name, self.study.history)

    def _bars(self, axes, rows):
        (_, row), = rows
        here = [label for label in self.labels if label in row]
        of = [row[label] for label in here]
        bars = axes.bar(range(len(here)), [one.median for one in of], 0.7, yerr=_whiskers(of), capsize=4,
                        color=[self.colours[label] for label in here])
        axes.bar_label(bars, [form.number(one.median) for one in of], fontsize=7, padding=2)
        axes.set_xticks(range(len(here)), here, fontsize=8)
        axes.grid(axis="x", visible=False)
        axes.margins(y=0.15)

    def _lines(self, axes, rows):
        for label in self.labels:
            of = sorted(((point.threads, row[label]) for point, row in rows if label in row), key=lambda one: one[0])
            if of:
                axes.errorbar([threads for threads, _ in of], [one.median for _, one in of],
                              yerr=_whiskers([one for _, one in of]), marker="o", capsize=2, color=self.colours[label],
                              label=label)
        threads = sorted({point.threads for point, _ in rows})
        if max(threads) >= 64:
            axes.set_xscale("log", base=2)
        axes.set_xticks(threads, [str(count) for count in threads])
        axes.set_xlabel("threads")

    def gains(self):
        """A panel for each condition: the change at each number of threads, with its confidence interval."""
        found = [gain for gain in gains(self.study) if gain.of_point and gain.figure is FIGURES[0]]
        panels = list(dict.fromkeys((gain.where.condition, gain.where.workload) for gain in found))
        if not panels:
            return
        figure, axes = _grid(len(panels))
        low, high = _gains_shown([gain.change for gain in found])
        for (condition, workload), each in zip(panels, axes):
            here = [gain for gain in found if (gain.where.condition, gain.where.workload) == (condition, workload)]
            threads = sorted({gain.where.threads for gain in here})
            for number, label in enumerate(self.labels[1:]):
                of = sorted((gain for gain in here if gain.label == label), key=lambda gain: gain.where.threads)
                # Each number of threads has its own place, with its labels side by side.
                half = 0.15 * (len(self.labels) - 2) / 2
                at = [threads.index(gain.where.threads) + 0.15 * number - half for gain in of]
                change = [gain.change for gain in of]
                each.errorbar(at, [one.mean for one in change], fmt="o", capsize=3, color=self.colours[label], label=label,
                              yerr=[[one.mean - one.low for one in change], [one.high - one.mean for one in change]])
                for where, one in zip(at, change):
                    if one.high > high:
                        each.plot(where, high, marker="^", color=self.colours[label], clip_on=False)
                        # To the right of all labels, those below each other.
                        each.annotate(f"{one.high:+,.0f}", (where + 2 * half - 0.15 * number, high),
                                      (6, -7 - 9 * number), textcoords="offset points", fontsize=7,
                                      color=self.colours[label])
            each.axhline(0, color="#555555", linewidth=1)
            each.set_xticks(range(len(threads)), [str(count) for count in threads])
            each.set_xlim(-0.6, len(threads) - 0.4)
            each.set_ylim(low, high)
            each.set_xlabel("threads")
            each.set_title(f"{workload}\n{condition}" if condition else workload, fontsize=8)
        cut = "; an arrow shows where it continues to that figure" if any(each.texts for each in axes) else ""
        self._finish(figure, axes, "gain", f"Change of throughput to {self.labels[0]}, %, with the 95 % interval{cut}",
                     {"loc": "upper left", "bbox_to_anchor": (0, -0.2), "ncols": 3})  # Inside, it would hide whiskers.

    def over_time(self):
        points = [point for point in self.study.points()
                  if any(THROUGHPUT in run.series for run in self.study.runs if run.point == point)][:_PANELS_MAX]
        if not points:
            return
        figure, panels = _grid(len(points))
        for point, axes in zip(points, panels):
            for label in self.labels:
                for run in self.study.at(point, label):
                    if THROUGHPUT in run.series:
                        metric = run.series[THROUGHPUT]
                        axes.plot([at for at, _ in metric.points], [value for _, value in metric.points], linewidth=1,
                                  color=self.colours[label], alpha=1 if run.repetition == 1 else 0.45,
                                  label=label if run.repetition == 1 else None)
                        axes.set_ylabel(metric.unit, fontsize=7)
            axes.set_title(point.name, fontsize=8)
            axes.set_xlabel("seconds")
            axes.set_ylim(bottom=0)
        self._finish(figure, panels, "over_time", "Throughput over time")


def _gains_shown(changes):
    """(low, high), in percent: whole intervals, except the upper ends of very wide ones.

    Nothing is below -100 %. Two repetitions may have such a high end that the points beside them would shrink to a line.
    """
    low = min([0, *(one.low for one in changes)])
    high = min(max([0, *(one.high for one in changes)]), max([_GAIN_MAX, *(1.2 * one.mean for one in changes)]))
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _grid(count):
    return style.grid(count, 3, 4.2, 3.0, (7.0, 4.0))


def _whiskers(spreads):
    return style.whiskers([one.values for one in spreads])


def draw(study, directory):
    """Draws all charts of the study; returns the files."""
    charts = _Charts(study, directory)
    units = sorted({run.unit for run in study.runs})
    charts.over_points("throughput", "Throughput, " + " or ".join(units), lambda run: run.throughput)
    charts.over_points("latency_p95", "95th percentile of latency, ms", _p95)
    charts.over_points("write_amplification", "Bytes written for each byte of rows",
                       lambda run: run.write_amplification)
    if study.paired:
        charts.gains()
    charts.over_time()
    return charts.drawn
