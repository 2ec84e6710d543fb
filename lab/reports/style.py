"""The style of every chart, and saving it."""

from pathlib import Path
from statistics import median

from lab.base import debian

# By engine, so that it has one colour in all charts; distinct for colour-blind readers (Okabe and Ito).
_COLOURS = {"innodb": "#0072B2", "tidesdb": "#D55E00", "rocksdb": "#009E73", "myrocks": "#009E73"}
_OTHERS = ("#CC79A7", "#E69F00", "#56B4E9", "#000000")
DOTS = 300
_NOTES_MAX = 5  # More would leave no room for the chart.


def pyplot():
    """matplotlib without a screen."""
    debian.load("matplotlib", "python3-matplotlib").use("Agg")
    plt = debian.load("matplotlib.pyplot", "python3-matplotlib")
    plt.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True,
                         "axes.spines.top": False, "axes.spines.right": False, "legend.framealpha": 0.8,
                         "legend.edgecolor": "none", "pdf.fonttype": 42, "path.simplify": True})
    return plt


def colours(engines, shown=str):
    """By engine, each another one, but for an engine's two names. shown: what is drawn for one of the colours above."""
    made, others = {}, 0
    for engine in engines:
        known = _COLOURS.get(engine.lower())
        round_ = 0 if known else others // len(_OTHERS)
        made[engine] = _lighter(shown(known or _OTHERS[others % len(_OTHERS)]), 1 - 0.65 ** round_)
        others += known is None
    return made


def shades(labels, shown=str):
    """By label, each another one: builds of an engine, TidesDB-jemalloc say, have its colour, the later ones lighter."""
    of_engine = {}
    for label in labels:
        engine = label.split("-")[0]
        engine = "RocksDB" if engine.lower() == "myrocks" else engine  # One engine's two names.
        of_engine.setdefault(engine, []).append(label)
    made = {}
    for engine, colour in colours(list(of_engine), shown).items():
        same = of_engine[engine]
        made |= {label: _lighter(colour, 0.7 * at / len(same)) for at, label in enumerate(same)}
    return {label: made[label] for label in labels}


def _lighter(colour, share):
    """#rrggbb with a share of white."""
    if not share:
        return colour
    parts = (int(colour[at:at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * share):02x}" for part in parts)


def grid(count, columns_max, width, height, least=(6.4, 0.0)):
    """(figure, its panels), so many; width and height: of one."""
    columns = min(columns_max, count)
    lines = -(-count // columns)
    figure, panels = pyplot().subplots(lines, columns, squeeze=False,
                                       figsize=(max(least[0], width * columns), max(least[1], height * lines)))
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    return figure, list(panels.flat[:count])


def whiskers(several):
    """The distances of the lowest and highest of each values from their median; None if all have only one value."""
    if all(len(values) < 2 for values in several):
        return None
    middle = [median(values) if values else 0 for values in several]
    return [[at - min(values, default=0) for at, values in zip(middle, several)],
            [max(values, default=0) - at for at, values in zip(middle, several)]]


def save(figure, directory, name, notes=()):
    """Writes name.png and name.pdf and frees the figure. notes: caveats to print below it."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    below, notes = 0.0, list(notes)
    if len(notes) > _NOTES_MAX:
        notes[_NOTES_MAX - 1:] = [f"And {len(notes) - _NOTES_MAX + 1} more, which the report has."]
    if notes:
        below = 0.045 * len(notes)
        figure.text(0.01, 0.01, "\n".join(notes), fontsize=7, color="#a00000", va="bottom", wrap=True)
    figure.tight_layout(rect=(0, below, 1, 1))
    paths = []
    for kind in ("png", "pdf"):
        paths.append(directory / f"{name}.{kind}")
        # Without a date, so that the same figures give the same file.
        figure.savefig(paths[-1], dpi=DOTS, metadata={"CreationDate": None} if kind == "pdf" else None)
    pyplot().close(figure)
    return paths
