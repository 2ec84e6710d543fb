#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not: layers, limits, names, banned things.

Usage: tools/tidy.py            the quick checks, seconds
       tools/tidy.py --headers  each header compiles alone, minutes
       tools/tidy.py --format   the layout is clang-format's; with --fix, makes it so
Prints one line per finding; exit code 1 if there are findings.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent

LINE_MAX = 124
FILE_LINES_MAX = 600
TEST_FILE_LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
INCLUDES_MAX = 25
ROOM_PAGE_LINES_MAX = 60
FRONT_PAGE_LINES_MAX = 120  # README.md: move more text to a page in docs/.

CPP = (".cc", ".h")
TEXT = CPP + (".py", ".sh", ".md", ".txt", ".cmake", ".json", ".cnf", ".test")

# (name, pattern, folders it applies to, exempt folders and files, what to do instead)
BANS = [
    ("using namespace", r"\busing namespace\b", ["."], [], "name what is used"),
    ("new", r"(?<!placement )\bnew\s+[A-Za-z_(:<]", ["src", "include", "plugin", "lab", "tools"],
     ["src/base/arena", "src/memtable"], "std::make_unique, or placement new in an arena"),
    ("delete", r"\bdelete\s+[A-Za-z_*(]|\bdelete\[\]", ["src", "include", "plugin", "lab", "tools"], [],
     "an owner"),
    ("threads of std", r"\bstd::(thread|jthread|mutex|shared_mutex|condition_variable|lock_guard|"
                       r"unique_lock|scoped_lock|async)\b",
     ["src", "plugin"], ["src/base", "src/io/host"], "base/mutex.h and base/thread.h: the simulator drives those"),
    ("system headers", r"#include <(unistd|fcntl|dirent|sys/\w+)\.h>", ["src", "plugin"],
     ["src/io", "plugin/base/huge_pages"],
     "FileSystem and Host of src/io"),
    ("wall clocks", r"\b(system_clock|steady_clock|high_resolution_clock)::now|\bsleep_for\b",
     ["src"], ["src/base/clock", "src/base/thread", "src/io"], "Clock"),
    ("random of std", r"\b(std::random_device|rand\(\)|srand\()", ["src"], ["src/io"], "base/random.h"),
    ("throw", r"\bthrow\b(?!\w)", ["src", "include", "plugin"], [], "Status"),
    ("RTTI", r"\b(dynamic_cast|typeid)\b", ["src", "include", "plugin"], [], "a virtual function"),
    ("server version", r"\bMYSQL_VERSION_ID\b", ["plugin"], ["plugin/base/server_port.h"],
     "server_port.h, the only file that knows versions"),
    ("disabled code", r"^\s*#\s*if\s+0\b", ["."], [], "delete it"),
]
CPP_COMMENT_BANS = [
    ("leftover mark", r"\b(FIXME|XXX|nocommit|NOCOMMIT)\b|\bTODO\b(?!\(#\d+\))"),
]
EVERYWHERE_BANS = [
    ("a path of one machine", r"(?<![\w./$}])/(work|home)/\w"),
    ("a package host", r"\b(deb|security|archive|snapshot)\.(debian|ubuntu)\.(org|com)\b|"
                       r"\bpypi\.org\b|\bregistry\.npmjs\b|\bfiles\.pythonhosted\b"),
]


# The implementation of mutexes, and test doubles.
LOCKS_THEMSELVES = ["src/base/mutex.h", "src/base/failpoint.cc", "plugin/base/latch.h", "src/txn/test_env.h"]


class Findings:
    def __init__(self):
        self.lines = []

    def add(self, path, line, text):
        self.lines.append(f"{path}:{line}: {text}" if line else f"{path}: {text}")


def tree_files():
    """The files that git tracks or would add."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=TREE, stdout=subprocess.PIPE, check=True).stdout.decode()
    return sorted(path for path in set(listed.split("\0")) if path and (TREE / path).is_file())


def under(path, folders):
    return any(folder == "." or path == folder or path.startswith(folder.rstrip("/") + "/")
               or path.startswith(folder + ".") or path.startswith(folder + "_") for folder in folders)


def strip_code(text):
    """C++ without comments and literals; every line stays on its line."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
                  blank, text, flags=re.S)


def read_layers(python=False):
    """By folder its number, and whether it may only see public headers."""
    layers = {}
    for line in (TREE / "tools" / "layers.txt").read_text().splitlines():
        fields = line.split()
        if fields and not line.startswith("#") and ("python" in fields) == python:
            layers[fields[1]] = (int(fields[0]), "public" in fields[2:])
    return layers


def layer_of(path, layers):
    return next((folder for folder in layers if path.startswith(folder + "/")), None)


def folder_of(path, target, own, layers):
    """The folder of an included file; paths start at src/, within plugin/ at plugin/."""
    top = "plugin/" if path.startswith("plugin/") and (TREE / "plugin" / target).exists() else "src/"
    folder = layer_of(top + target, layers)
    return folder if folder and (TREE / top / target).exists() else own


def check_layers(path, text, layers, findings):
    own = layer_of(path, layers)
    if own is None:
        if path.startswith(("src/", "include/")):
            findings.add(path, 0, "its folder is not in tools/layers.txt")
        return
    level, public_only = layers[own]
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'#include "([^"]+)"', line)
        if not found:
            continue
        count += 1
        target = found.group(1)
        folder = "include/tidesdb" if target.startswith("tidesdb/") else folder_of(path, target, own, layers)
        if folder == own or folder == "include/tidesdb":
            continue
        if public_only and folder.split("/")[0] != own.split("/")[0]:
            findings.add(path, number, f"{own} may include public headers only, not {target}")
        elif layers[folder][0] >= level:
            findings.add(path, number, f"includes upwards: {own} ({level}) -> {folder} ({layers[folder][0]})")
    if count > INCLUDES_MAX:
        findings.add(path, 0, f"{count} includes of our own, {INCLUDES_MAX} at most")


def imported(tree):
    """(line, dotted name) of a module's imports, also within functions; for `from a import b` also a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ".", *(f"{node.module}.{name.name}" for name in node.names)]
            yield from ((node.lineno, "." * node.level + name) for name in names)


def check_imports(path, text, layers, findings):
    """Python: a folder may import only from folders with a smaller number, so that no two import each other."""
    own = os.path.dirname(path)
    if own not in layers:
        findings.add(path, 0, f"its folder {own} is not in tools/layers.txt as python")
        return
    for number, name in imported(ast.parse(text, path)):
        if name.startswith("."):
            findings.add(path, number, f"imports {name}: write the full name")
        if not (TREE / (name.replace(".", "/") + ".py")).exists():
            continue  # The library's, a package, or a name within a module.
        folder = name.rpartition(".")[0].replace(".", "/")
        if folder in layers and folder != own and layers[folder][0] >= layers[own][0]:
            findings.add(path, number, f"imports upwards: {own} ({layers[own][0]}) -> {folder} ({layers[folder][0]})")


def is_test(path):
    return path.startswith("test/") or re.search(r"_(test|bench|fuzz)(_util)?\.(cc|h)$", path) is not None


def check_limits(path, text, findings):
    lines = text.splitlines()
    most = TEST_FILE_LINES_MAX if is_test(path) else FILE_LINES_MAX
    if len(lines) > most:
        findings.add(path, 0, f"{len(lines)} lines, {most} at most: split it by job")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_MAX and "http" not in line and "NOLINT" not in line:
            findings.add(path, number, f"{len(line)} columns, {LINE_MAX} at most")


def check_functions(path, code, findings):
    """Function bodies that open at the end of a line with `) {` or the like, by counting braces."""
    if is_test(path):
        return
    lines = code.splitlines()
    scope = []  # For each open brace: the line its function began, or None for other scopes.
    for number, line in enumerate(lines, 1):
        for column, char in enumerate(line):
            if char == "{":
                before = (lines[number - 2] if number > 1 and not line[:column].strip() else line[:column])
                inside_function = any(begin is not None for begin in scope)
                head = re.search(r"\)\s*(const|noexcept|override|final|->.*|[A-Z_]+\(.*\)|\s)*$", before)
                control = re.match(r"\s*(if|for|while|switch|else|do|namespace|class|struct|enum)\b", before)
                scope.append(number if head and not control and not inside_function else None)
            elif char == "}" and scope:
                begin = scope.pop()
                if begin is not None and number - begin - 1 > FUNCTION_LINES_MAX:
                    findings.add(path, begin, f"a function of {number - begin - 1} lines, "
                                              f"{FUNCTION_LINES_MAX} at most")


def check_header(path, text, findings):
    first = text.split("\n", 1)[0]
    if not first.startswith("// "):
        findings.add(path, 1, "line 1 of a header says its job in a sentence")
    if "#pragma once" not in text:
        findings.add(path, 1, "no #pragma once")


def check_contract(path, text, findings):
    """Each block of a contract must begin on its own line, or readers miss it."""
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*// (.*)", line)
        if comment and re.search(r"[.)] (Threads|Owns|Invariants?|Format|Lock order|Locks):( |$)",
                                 comment.group(1)):
            findings.add(path, number, "a block of a contract begins in the middle of a line")


def check_pages(path, text, findings):
    """Each page named in a comment or another page must exist."""
    for number, line in enumerate(text.splitlines(), 1):
        for page in re.findall(r"\bdocs/[\w./-]+\.md\b", line):
            if not (TREE / page).exists():
                findings.add(path, number, f"names {page}, which is not there")


def check_room_pages(files, findings):
    """Each folder of the engine needs a page about its purpose."""
    folders = {path.split("/")[1] for path in files if re.match(r"src/\w+/", path)}
    for folder in sorted(folders):
        page = TREE / "src" / folder / "README.md"
        if not page.exists():
            findings.add(f"src/{folder}", 0, "has no README.md: its job, rooms, threads, who may call")
        elif len(page.read_text().splitlines()) > ROOM_PAGE_LINES_MAX:
            findings.add(f"src/{folder}/README.md", 0, f"{ROOM_PAGE_LINES_MAX} lines at most")
    if "ReflowComments: false" not in (TREE / ".clang-format").read_text():
        findings.add(".clang-format", 0, "ReflowComments: false keeps the blocks of contracts apart")


def check_public(path, text, findings):
    """Every public function of the library needs a comment: on its line, or before it without an empty line between."""
    if not path.startswith("include/"):
        return
    said, public = False, False
    for number, line in enumerate(text.splitlines(), 1):
        if label := re.match(r"\s*(public|private|protected):", line):
            public = label[1] == "public"
        elif opened := re.match(r"(class|struct)\b.*\{", line):
            public = opened[1] == "struct"
        if not line.strip():
            said = False
        elif "//" in line:
            said = True
        elif public and not said and re.match(r"  (?!return|if|for|using|friend)[\w\[\]:<>,*& ]+[\s*&]\w+\(", line) \
                and "= default" not in line and "operator" not in line:
            findings.add(path, number, "a public function without a comment: its meaning, units, errors, threads, lifetime")


def owned_locks(text):
    """(line, Class::member) of each mutex and latch that is a member, by the nearest class that is indented less."""
    classes = []
    for number, line in enumerate(strip_code(text).splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if opened := re.match(r"\s*(?:class|struct)\s+(?:\w+\([^)]*\)\s*)?(?:\w+::)*(\w+)[^;]*$", line):
            classes = [one for one in classes if one[0] < indent] + [(indent, opened[1])]
        if lock := re.match(r"\s+(?:mutable )?(?:Mutex|Latch|std::mutex) (\w+)(?:[;{]| [A-Z_]+\()", line):
            inside = [name for depth, name in classes if depth < indent]
            if inside:
                yield number, f"{inside[-1]}::{lock[1]}"


def check_locks(path, text, findings):
    """docs/locks.md must list every mutex and latch, with the locks held together with it."""
    if not path.startswith(("src/", "plugin/")) or is_test(path) or path in LOCKS_THEMSELVES:
        return
    page = (TREE / "docs" / "locks.md").read_text()
    for number, lock in owned_locks(text):
        if f"{lock}`" not in page:
            findings.add(path, number, f"docs/locks.md does not have {lock}")


def check_variables(findings):
    """The page of the plugin's variables must match their tables."""
    done = subprocess.run([sys.executable, "-m", "tools.variables", "--check"], cwd=TREE)
    if done.returncode:
        findings.add("docs/variables.md", 0, "does not match the tables; update it: python3 -m tools.variables")


def check_bans(path, text, code, findings):
    for what, pattern, folders, exempt, instead in BANS:
        if not under(path, folders) or under(path, exempt):
            continue
        if is_test(path) and what in ("new", "system headers", "wall clocks"):
            continue
        lines = code.splitlines()
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line) and "NOLINT" not in text.splitlines()[number - 1]:
                if what == "new" and (re.search(r"\bnew\s*\(|_ptr<.*>\w*\(new\b", line)
                                      or re.search(r"_ptr<.*>\w*\($", lines[number - 2])):
                    continue  # Placement; or straight into its owner (a private constructor).
                findings.add(path, number, f"banned: {what}; instead: {instead}")
    for what, pattern in CPP_COMMENT_BANS:
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(pattern, line):
                findings.add(path, number, f"{what}: do it now or name an issue as TODO(#number)")


def check_everywhere(path, text, findings):
    if path == "tools/tidy.py":
        return
    for what, pattern in EVERYWHERE_BANS:
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(pattern, line):
                findings.add(path, number, f"names {what}")


def check_targets(files, findings):
    """Every .cc is in exactly one CMake target; every source that CMake names exists."""
    uses = {}
    for path in files:
        if os.path.basename(path) != "CMakeLists.txt":
            continue
        text = re.sub(r"#.*", "", (TREE / path).read_text())
        for name in re.findall(r"[\w./-]+\.cc\b", text):
            source = os.path.normpath(os.path.join(os.path.dirname(path), name))
            uses.setdefault(source, []).append(path)
    for path in files:
        if path.endswith(".cc") and len(uses.get(path, [])) != 1:
            findings.add(path, 0, f"is in {len(uses.get(path, []))} CMake targets, should be in one")
    for source, users in uses.items():
        if source not in files:
            findings.add(users[0], 0, f"names {source}, which is not there")


def check_markdown(path, text, files, findings):
    prose = re.sub(r"```.*?```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    if path == "README.md" and len(text.splitlines()) > FRONT_PAGE_LINES_MAX:
        findings.add(path, 0, f"{len(text.splitlines())} lines, {FRONT_PAGE_LINES_MAX} at most: move it to docs/")
    titles = [line for line in prose.splitlines() if line.startswith("# ")]
    if len(titles) != 1:
        findings.add(path, 0, f"{len(titles)} titles (# ...), should be one")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if "://" in target or target.startswith("mailto:"):
            continue
        if not (TREE / os.path.dirname(path) / target).exists():
            findings.add(path, 0, f"links to {target}, which is not there")


def check_quick(findings):
    files = tree_files()
    layers, python_layers = read_layers(), read_layers(python=True)
    check_targets(files, findings)
    check_room_pages(files, findings)
    check_variables(findings)
    for path in files:
        name = os.path.basename(path)
        if not (path.endswith(TEXT) or name in ("quickstart", "run-tests", "run")):
            continue
        text = (TREE / path).read_text(errors="replace")
        check_everywhere(path, text, findings)
        if path.endswith(CPP):
            code = strip_code(text)
            check_layers(path, text, layers, findings)
            check_limits(path, text, findings)
            check_functions(path, code, findings)
            check_bans(path, text, code, findings)
            check_pages(path, text, findings)
            check_locks(path, text, findings)
            if path.endswith(".h"):
                check_header(path, text, findings)
                check_contract(path, text, findings)
                check_public(path, text, findings)
        elif path.endswith(".py"):
            check_limits(path, text, findings)
            try:
                check_imports(path, text, python_layers, findings)
            except SyntaxError as error:
                findings.add(path, error.lineno, str(error))
        elif path.endswith(".md"):
            check_markdown(path, text, files, findings)
            check_pages(path, text, findings)
    return len(files)


def check_headers_alone(findings):
    """Compiles each header of the engine by itself, with everything it needs included by it."""
    headers = [path for path in tree_files() if path.endswith(".h") and
               path.startswith(("include/", "src/"))]

    def compile_one(path):
        done = subprocess.run(
            [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", "-Wno-pragma-once-outside-header",
             "-DTIDESDB_HOOKS=1", "-I", "src", "-I", "include", "-x", "c++", path],
            cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return path, done.returncode, done.stdout.decode(errors="replace")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, code, text in pool.map(compile_one, headers):
            if code != 0:
                errors = [line for line in text.splitlines() if "error" in line]
                findings.add(path, 0, f"does not compile alone: {(errors or [text])[0]}")
    return len(headers)


def check_format(findings, fix):
    """Layout by one version of clang-format, since other versions differ."""
    sources = [path for path in tree_files() if path.endswith(CPP)]
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    version = program and subprocess.run([program, "--version"], stdout=subprocess.PIPE).stdout.decode()
    if not version or " version 14." not in version:
        print("skipped: clang-format 14 is missing")
        return 0
    argv = [program, "-i"] if fix else [program, "--dry-run"]
    done = subprocess.run([*argv, *sources], cwd=TREE, stderr=subprocess.PIPE)
    files = set(re.findall(r"^(\S+?):\d+:\d+: warning", done.stderr.decode(), re.M))
    for path in sorted(files):
        findings.add(path, 0, "its layout is not clang-format's (tools/tidy.py --format --fix)")
    return len(sources)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headers", action="store_true", help="each header compiles alone")
    parser.add_argument("--format", action="store_true", help="layout, by clang-format")
    parser.add_argument("--fix", action="store_true", help="with --format: changes the files")
    args = parser.parse_args()
    findings = Findings()
    if args.format:
        count = check_format(findings, args.fix)
    else:
        count = check_headers_alone(findings) if args.headers else check_quick(findings)
    for line in findings.lines:
        print(line)
    print(f"{count} files checked, {len(findings.lines)} findings")
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main())
