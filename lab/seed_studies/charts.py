"""The chart of a sweep, as seed 001 draws it: time above, memory below, over what is staged."""

from lab.charts import style
from lab.harness.private_server import in_bytes

SWEEP = "sweep"
_PANELS = (("time", "seconds"), ("peak resident memory", "MB"))


def points(found, measure):
    """(bytes, values) of a sweep's figures, rising."""
    return sorted((in_bytes(subject.removesuffix("B staged").replace(" ", "")), values)
                  for (subject, name), values in found.items() if name == measure)


def sweep(found, title, directory):
    """found: of ours.figures(). Writes sweep.png and sweep.pdf; returns their paths, none without figures."""
    if not points(found, _PANELS[0][0]):
        return []
    figure, panels = style.pyplot().subplots(2, 1, figsize=(7.5, 5.5), sharex=True)
    for axes, (measure, unit) in zip(panels, _PANELS):
        of = points(found, measure)
        axes.plot([size >> 20 for size, _ in of], [sorted(values)[len(values) // 2] for _, values in of], "o-",
                  color=style.colours(["TidesDB"])["TidesDB"])
        axes.set_ylabel(unit)
        axes.set_title(f"{title}: {measure}")
        axes.set_ylim(0, 1.1 * max(max(values) for _, values in of) if of else 1)
        axes.set_xscale("log", base=2)
        axes.set_xticks([size >> 20 for size, _ in of], [f"{size >> 20} MB" for size, _ in of])
    panels[-1].set_xlabel("staged in memory")
    return style.save(figure, directory, SWEEP)
