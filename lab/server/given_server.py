"""A user's own server: its program and the files beside it, as an Environment of the installer."""

import re
from dataclasses import dataclass
from pathlib import Path

from installer import servers
from installer.shell import output


@dataclass(frozen=True)
class GivenServer:
    """client: None: the one beside it. home: the Environment whose root it runs in; None: this machine."""
    mariadbd: Path
    basedir: Path
    plugin_dir: Path
    client: Path | None = None
    home: servers.Environment | None = None

    @property
    def root(self):
        return self.home.root if self.home else None

    def command(self, argv, cwd=None, needs=()):
        """As of Environment."""
        own = [path for path in (self.basedir, self.mariadbd.parent, self.plugin_dir) if path.is_dir()]
        return command_in(self.home, argv, cwd, (*needs, *own))

    @property
    def mtr_dir(self):
        return servers.mtr_dir(self.basedir)

    def tool(self, name):
        if name == "mariadb" and self.client:
            return self.client
        beside = [self.basedir / folder / name for folder in ("bin", "scripts", "client")]
        return next((path for path in beside if path.exists()), beside[0])


def command_in(home, argv, cwd=None, needs=()):
    """The command line that runs argv in home's root; home: an Environment, or None for this machine."""
    return home.command(argv, cwd, needs) if home else [str(a) for a in argv]


def plugin_dir_of(program, basedir, ask=output):
    """The plugin directory of this server. ask: runs it and returns its output."""
    said = ask([program, "--no-defaults", "--user=root", f"--basedir={basedir}", "--verbose", "--help"])
    found = re.search(r"^plugin-dir\s+(\S+)", said, re.M)
    return Path(found.group(1)) if found else basedir / "lib" / "plugin"
