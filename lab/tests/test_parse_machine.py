"""Tests of lab/observe/{iostat,mpstat,pidstat,vmstat}: recorded outputs are read, others refused with their place."""

import unittest

from lab.base.errors import BadInput
from lab.observe import clocked, iostat, mpstat, pidstat, vmstat
from lab.tests.cases import recorded

# Debian 12 and Debian 13, beside a MariaDB 10.11.18 with two connections.
SYSSTAT, PROCPS = ("12.6.1", "12.7.5"), ("4.0.2", "4.0.4")
_OF = [(tool, f"sysstat-{version}-{tool.__name__.rsplit('.', 1)[1]}.txt") for tool in (iostat, mpstat, pidstat)
       for version in SYSSTAT] + [(vmstat, f"procps-{version}-vmstat.txt") for version in PROCPS]


def clock(hours, minutes, seconds):
    return (hours * 60 + minutes) * 60 + seconds


class Recorded(unittest.TestCase):
    def test_iostat(self):
        reports = iostat.parse(recorded("sysstat-12.6.1-iostat.txt"))
        self.assertEqual([one.at_s for one in reports], [clock(15, 36, 54) + k for k in range(4)])
        first = reports[0].devices["vda"]
        self.assertEqual((first["r/s"], first["wkB/s"], first["w_await"]), (1135.0, 15128.0, 0.42))
        later = iostat.parse(recorded("sysstat-12.7.5-iostat.txt"))
        self.assertEqual((len(later), later[1].devices["vda"]["r/s"]), (4, 751.0))
        self.assertEqual([*later[0].devices["vda"]], [*first])

    def test_mpstat(self):
        for version in SYSSTAT:
            reports = mpstat.parse(recorded(f"sysstat-{version}-mpstat.txt"))
            self.assertEqual({*reports[0].cpus}, {"all", "0", "1"})
            for one in reports:
                self.assertAlmostEqual(sum(one.cpus["all"].values()), 100, delta=0.1)
        first = mpstat.parse(recorded("sysstat-12.6.1-mpstat.txt"))[0]
        self.assertEqual((first.at_s, first.cpus["0"]["%usr"], first.cpus["1"]["%sys"]), (clock(15, 36, 54), 14.85, 17.82))

    def test_pidstat(self):
        for version in SYSSTAT:
            for one in pidstat.parse(recorded(f"sysstat-{version}-pidstat.txt")):
                self.assertEqual((one.process.name, len(one.threads)), ("mariadbd", 14))
                self.assertAlmostEqual(sum(thread.cpu for thread in one.threads), one.process.cpu, delta=3)
        first = pidstat.parse(recorded("sysstat-12.6.1-pidstat.txt"))[0]
        self.assertEqual(first.process, pidstat.Task(10497, "mariadbd", 27.72, 9.90, 0.0, 37.62))
        self.assertEqual(first.threads[5], pidstat.Task(10506, "mariadbd", 0.0, 0.0, 0.99, 0.0))

    def test_pidstat_sums_threads_of_one_name(self):
        text = recorded("sysstat-12.7.5-pidstat.txt").replace("  |__mariadbd", "  |__ib io worker", 3)
        summed = pidstat.parse(text)[0].by_name()
        self.assertEqual({*summed}, {"ib io worker", "mariadbd"})

    def test_vmstat(self):
        first = vmstat.parse(recorded("procps-4.0.2-vmstat.txt"))[0]
        self.assertEqual((first.at_s, first.figures["r"], first.figures["cs"], first.figures["gu"]),
                         (clock(15, 36, 54), 10, 16905, 0))
        later = vmstat.parse(recorded("procps-4.0.4-vmstat.txt"))
        self.assertEqual([one.figures["bo"] for one in later], [18616, 27992, 32204, 39472])

    def test_midnight_is_no_end(self):
        self.assertEqual(clocked.since(clock(0, 0, 1), clock(23, 59, 59)), 2)
        self.assertEqual(clocked.since(clock(23, 59, 59), clock(0, 0, 1)), -2)


class Refused(unittest.TestCase):
    def refused(self, tool, text, pattern):
        with self.assertRaisesRegex(BadInput, rf"^here\.txt{pattern}"):
            tool.parse(text, "here.txt")

    def test_nothing(self):
        for tool, _ in _OF:
            self.refused(tool, " \n", ": is empty; ")

    def test_another_tool_s(self):
        for tool, name in _OF:
            self.refused(tool, "sysbench 1.0.20 (using system LuaJIT 2.1.0)\n", r":1: is not output of .*sysbench")
            for other, other_name in _OF:
                if other is not tool:
                    self.refused(tool, recorded(other_name), r":\d+: ")

    def test_cut_off_anywhere_within_a_line(self):
        for tool, name in _OF:
            text = recorded(name)
            for length in range(10, len(text) - 1, 7):
                if text[length - 1] != "\n":
                    self.refused(tool, text[:length], rf":{len(text[:length].splitlines())}: ")

    def test_cut_off_before_the_first_figures(self):
        for tool, name in _OF:
            lines = recorded(name).splitlines(keepends=True)
            head = next(number for number, line in enumerate(lines) if "%util" in line or "%idle" in line or "%CPU" in line
                        or "swpd" in line)
            self.refused(tool, "".join(lines[:head + 1]), rf":{head + 1}: is cut off")

    def test_mpstat_without_its_averages(self):
        text = recorded("sysstat-12.6.1-mpstat.txt")
        whole = text[:text.index("Average:")]
        self.refused(mpstat, whole, rf":{len(whole.splitlines())}: is cut off: mpstat's averages are missing")

    def test_a_figure_that_is_none(self):
        for tool, name in _OF:
            lines = recorded(name).splitlines(keepends=True)
            at = next(number for number, line in enumerate(lines) if " 0.00 " in line or " 0 " in line)
            was, is_now = (" 0.00 ", " 0.x0 ") if " 0.00 " in lines[at] else (" 0 ", " x ")
            damaged = lines[at].replace(was, is_now, 1)
            self.refused(tool, "".join([*lines[:at], damaged, *lines[at + 1:]]), rf":{at + 1}: is damaged")

    def test_other_options(self):
        text = recorded("sysstat-12.6.1-iostat.txt")
        self.refused(iostat, text.replace("2026-11-22T15:36:54+0000\n", ""), ":4: has no time before this head")
        self.refused(iostat, text.replace("  %util", ""), ":5: is of iostat without -x")
        self.refused(mpstat, recorded("sysstat-12.6.1-mpstat.txt").replace("%usr", "%user"), ":3: is of another report")
        self.refused(pidstat, recorded("sysstat-12.6.1-pidstat.txt").replace("%wait", "%wtf"), ":3: is of other options")
        self.refused(vmstat, recorded("procps-4.0.2-vmstat.txt").replace("swpd", "free"), ":2: is of vmstat without -w -t")
