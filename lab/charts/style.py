"""What all charts share: matplotlib without a display, an engine's colour, how a chart is saved.

    figure, axes = style.new("New orders a minute", ylabel="NOPM")
    axes.bar(...)
    style.save(figure, directory, "chart_tpcc_nopm")
"""

import os
import tempfile
from pathlib import Path

from lab.harness import debian

DPI = 300
# Told apart by people who do not see red and green as different (the palette of Okabe and Ito).
_COLOURS = {"tidesdb": "#0072B2", "innodb": "#E69F00", "rocksdb": "#009E73"}
_OTHERS = ["#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#555555"]


def pyplot():
    """matplotlib.pyplot. Raises Failed naming the Debian package where it is missing."""
    if not os.access(Path.home(), os.W_OK):  # matplotlib keeps its fonts' list below it.
        os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())
    matplotlib = debian.load("matplotlib", "python3-matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True, "svg.hashsalt": "lab",
                                "axes.spines.top": False, "axes.spines.right": False, "font.size": 10})
    return debian.load("matplotlib.pyplot", "python3-matplotlib")


def colour(name, number=0):
    """An engine's colour; for another name the colour of its number."""
    return _COLOURS.get(name.lower().split()[0] if name else "", _OTHERS[number % len(_OTHERS)])


def new(title, xlabel="", ylabel="", size=(7.5, 4.5)):
    """A figure with one pair of axes that begin at zero."""
    figure, axes = pyplot().subplots(figsize=size)
    axes.set_title(title)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return figure, axes


def save(figure, directory, name):
    """Writes NAME.png and NAME.pdf; returns their paths. The figure is closed."""
    paths = [Path(directory) / f"{name}.{kind}" for kind in ("png", "pdf")]
    figure.tight_layout()
    for path in paths:
        metadata = {"CreationDate": None} if path.suffix == ".pdf" else {}
        figure.savefig(path, dpi=DPI, metadata=metadata)
    pyplot().close(figure)
    return paths
