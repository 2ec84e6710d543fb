"""The chart of the sweeps, as seed 001 draws it: time above, memory below, over the staging size."""

from statistics import median

from lab.reports import style
from lab.server.private_server import in_bytes

SWEEP = "sweep"
_PANELS = (("time", "seconds"), ("peak resident memory", "MB"))


def points(found, measure):
    """(bytes, values) of a sweep's figures, in ascending order."""
    return sorted((in_bytes(subject.removesuffix("B staged").replace(" ", "")), values)
                  for (subject, name), values in found.items() if name == measure)


def sweep(of, directory):
    """of: figures of ours.figures() by sweep, all in one chart as in the seed. Writes sweep.png and sweep.pdf;
    returns their paths, none without figures."""
    of = {name: found for name, found in of.items() if points(found, _PANELS[0][0])}
    if not of:
        return []
    figure, panels = style.pyplot().subplots(2, 1, figsize=(7.5, 5.5), sharex=True)
    sizes = sorted({size for found in of.values() for size, _ in points(found, _PANELS[0][0])})
    for axes, (measure, unit) in zip(panels, _PANELS):
        for name, colour in style.colours(list(of)).items():
            _line(axes, points(of[name], measure), name, colour)
        axes.set_ylabel(unit)
        axes.set_title(f"{measure}: median, lowest and highest")
        axes.set_ylim(0, 1.1 * max((max(values) for found in of.values() for _, values in points(found, measure)),
                                   default=1))
        axes.set_xscale("log", base=2)
        axes.set_xticks([size >> 20 for size in sizes], [f"{size >> 20} MB" for size in sizes])
        axes.legend()
    panels[-1].set_xlabel("staged in memory")
    return style.save(figure, directory, SWEEP)


def _line(axes, of, name, colour):
    middle = [median(values) for _, values in of]
    below = [at - min(values) for at, (_, values) in zip(middle, of)]
    above = [max(values) - at for at, (_, values) in zip(middle, of)]
    axes.errorbar([size >> 20 for size, _ in of], middle, [below, above], fmt="o-", capsize=3, color=colour, label=name)
