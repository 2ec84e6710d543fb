"""A server that is somebody's own: its program and what lies beside it, as an Environment of the installer's."""

import re
from dataclasses import dataclass
from pathlib import Path

from installer import servers
from installer.shell import output


@dataclass(frozen=True)
class GivenServer:
    """client: None for the one beside it."""
    mariadbd: Path
    basedir: Path
    plugin_dir: Path
    client: Path | None = None
    root = None

    def command(self, argv, cwd=None, needs=()):
        return [str(a) for a in argv]

    @property
    def mtr_dir(self):
        return servers.mtr_dir(self.basedir)

    def tool(self, name):
        if name == "mariadb" and self.client:
            return self.client
        beside = [self.basedir / folder / name for folder in ("bin", "scripts", "client")]
        return next((path for path in beside if path.exists()), beside[0])


def plugin_dir_of(program, basedir, ask=output):
    """Where this server looks for plugins."""
    said = ask([program, "--no-defaults", "--user=root", f"--basedir={basedir}", "--verbose", "--help"])
    found = re.search(r"^plugin-dir\s+(\S+)", said, re.M)
    return Path(found.group(1)) if found else basedir / "lib" / "plugin"
