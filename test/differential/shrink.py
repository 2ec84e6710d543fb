"""Makes a case small while it still shows its difference: fewer statements, then fewer columns, keys, rows and terms."""

import copy
import time

from test.differential.sql import Tagged


class Shrinker:
    """shows: a function of a case, True when it still shows the difference."""

    def __init__(self, shows, seconds_max=60):
        self._shows, self._deadline = shows, time.monotonic() + seconds_max
        self.attempts = 0

    def shrink(self, case):
        """A smaller copy of the case that still shows the difference. REQUIRES: the case shows it."""
        case = copy.deepcopy(case)
        before = None
        while before != _size(case) and not self._late():
            before = _size(case)
            self._thin(case, case.statements)
            self._tags(case)
            for statement in case.statements:
                for items in list(statement.lists()):
                    self._thin(case, items.items, items.least)
            self._settings(case)
        return case

    def _late(self):
        return time.monotonic() > self._deadline

    def _try(self, case):
        self.attempts += 1
        return self._shows(case)

    def _thin(self, case, items, least=0):
        """Removes runs of items, halves first. items: a list inside the case, changed in place."""
        size = max(1, len(items) // 2)
        while True:
            at = max(0, len(items) - size)
            while True:
                if self._late():
                    return
                kept = items[:]
                del items[at : at + size]
                if len(items) == len(kept) or len(items) < least or not self._try(case):
                    items[:] = kept
                if at == 0:
                    break
                at = max(0, at - size)
            if size == 1:
                return
            size = size // 2

    def _settings(self, case):
        """Removes settings, except those that make two runs of a case equal."""
        for setting in case.settings[:]:
            if not setting.startswith(("SET timestamp", "SET time_zone", "SET max_sort_length")):
                kept = case.settings[:]
                case.settings.remove(setting)
                if not self._try(case):
                    case.settings[:] = kept

    def _tags(self, case):
        """Removes columns, with their values."""
        for tag in sorted(_tags_of(case)):
            if self._late():
                return
            undo = []
            for statement in case.statements:
                for items in statement.lists():
                    kept = [item for item in items.items if not (isinstance(item, Tagged) and item.tag == tag)]
                    if len(kept) < len(items.items):
                        undo.append((items, items.items))
                        items.items = kept
            if not self._try(case):
                for items, before in reversed(undo):
                    items.items = before


def _tags_of(case):
    return {
        item.tag
        for statement in case.statements
        for items in statement.lists()
        for item in items.items
        if isinstance(item, Tagged)
    }


def _size(case):
    return (
        len(case.settings),
        len(case.statements),
        sum(len(items.items) for statement in case.statements for items in statement.lists()),
    )
