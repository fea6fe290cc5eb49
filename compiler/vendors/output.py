# SPDX-License-Identifier: MIT
"""Output of an import for users and programs: lines, JSON objects, and progress on a terminal."""

import json
import shutil
import sys


def format_size(n):
    """Formats a number of bytes."""
    return "%d B" % n if n < 1024 else "%.1f KiB" % (n / 1024) if n < 1 << 20 else "%.1f MiB" % (
        n / (1 << 20))


class ProgressBar:
    """Progress on a terminal; no output elsewhere."""

    def __init__(self, n):
        """Prepares a bar of @n steps, which only a terminal shows."""
        self.n, self.done = n, 0
        self.on = sys.stderr.isatty() and n > 1

    def show_step(self, name):
        """Shows one step more, with the name of its model."""
        self.done += 1
        if self.on:
            wide = max(10, min(40, shutil.get_terminal_size().columns - 40))
            full = wide * self.done // self.n
            sys.__stderr__.write("\r[%s%s] %d/%d %-16.16s"
                                 % ("#" * full, " " * (wide - full), self.done, self.n, name))
            sys.__stderr__.flush()

    def clear_line(self):
        """Removes the bar."""
        if self.on:
            sys.__stderr__.write("\r\033[K")
            sys.__stderr__.flush()


# Printable replacements for control characters in foreign file names and texts.
VISIBLE = {c: "\\x%02x" % c for c in (*range(32), 127, *range(128, 160)) if c != 10}


def escape_line(*texts):
    """Returns foreign text as part of one line."""
    return ": ".join(texts).replace("\n", "\\x0a")


class OutputClosed(Exception):
    """The reader of standard output has closed it."""


class EscapedStream:
    """A stream that escapes control characters of terminals."""

    def __init__(self, stream):
        """Writes to @stream."""
        self.stream = stream

    def write(self, text):
        """Writes @text with control characters made visible."""
        return self.write_guarded(self.stream.write, text.translate(VISIBLE))

    def flush(self):
        """Flushes the stream."""
        self.write_guarded(self.stream.flush)

    def write_guarded(self, act, *args):
        """Writes and ignores failures, because errors of standard error cannot be reported."""
        try:
            return act(*args)
        except OSError as why:
            if self.stream is sys.__stderr__:
                return 0
            raise OutputClosed(why.errno) from why

    def __getattr__(self, name):
        """Returns other members of the stream."""
        return getattr(self.stream, name)


class Output:
    """Writes messages, as text or JSON."""

    def __init__(self, as_json, verbose=False):
        """Prints JSON or text."""
        self.json, self.verbose = as_json, verbose

    def print_json(self, what):
        """Prints one object as a line."""
        print(json.dumps(what, ensure_ascii=True, sort_keys=True))

    def print_problem(self, path, why):
        """Prints why a path is left out."""
        if self.json:
            self.print_json({"problem": {"path": path, "reason": why}})
        else:
            print(escape_line(path, why), file=sys.stderr)

    def print_unchanged(self, path):
        """Prints that the image at @path is up to date."""
        if self.json:
            self.print_json({"summary": {"path": path, "unchanged": 1}})
        else:
            print("%s: up to date" % path)

    def print_model(self, r):
        """Prints the result of reading one model. @r: a result of import_model()."""
        everything = self.json or self.verbose
        for row in r["refused"]:
            # rows that only lack events of a damaged list are only counted
            if everything or r["state"] != "damaged" or row[1] == "-":
                self.print_row(True, *row)
        for row in r["notes"] if everything else ():
            self.print_row(False, *row)
        if r.get("error"):
            self.print_problem(r["model"], r["error"])
        if self.json:
            self.print_json({
                "model": {
                    "name": r["model"], "state": r["state"], "tables": r["tables"],
                    "core": r["core"], "uncore": r["uncore"], "metrics": r["metrics"],
                    "masks": r["masks"], "refused": len(r["refused"]), "bytes": r["bytes"],
                    "path": r["path"]
                }
            })
        elif r["state"] == "unchanged":
            print("%-18s up to date" % r["model"])
        elif r["state"] in ("done", "damaged"):
            print("%-18s %5d core, %5d uncore events, %4d metrics in %2d tables%s%s%s" % (
                r["model"],
                r["core"],
                r["uncore"],
                r["metrics"],
                len(r["tables"]),
                ", " + format_size(r["bytes"]) if r["bytes"] else "",  # a progress line of its own
                ", %d refused" % len(r["refused"]) if r["refused"] else "",
                "" if r["state"] == "done" else "; a list is damaged: " +
                ("the former image stays" if r["path"] and not r["bytes"] else "written without it")
            ))
        elif r["state"] == "empty":
            print("%-18s nothing usable" % r["model"])

    def print_row(self, refused, file, event, key, reason):
        """Reports an event that was left out or accepted with a warning."""
        if self.json:
            self.print_json({
                "refused" if refused else "note": {
                    "file": file, "event": event, "key": key, "reason": reason
                }
            })
        else:
            print(escape_line(file, event, key, reason if refused else "note: " + reason),
                  file=sys.stderr)

    def print_summary(self, done, size, seconds, where):
        """Prints what the import has made."""
        total = {k: sum(r[k] for r in done) for k in ("core", "uncore", "metrics")}
        refused = sum(len(r["refused"]) for r in done)
        fresh = sum(r["state"] == "unchanged" for r in done)
        if self.json:
            self.print_json({
                "summary": {
                    "models": len(done), "unchanged": fresh, "core": total["core"],
                    "uncore": total["uncore"], "metrics": total["metrics"], "refused": refused,
                    "bytes": size, "seconds": round(seconds, 3), "path": where
                }
            })
        else:
            notes = sum(len(r["notes"]) for r in done)
            if notes and not self.verbose:
                print("%d notes about what was taken with a grain of salt: -v lists them" % notes)
            print(
                "%d models (%d up to date), %d core and %d uncore events, %d metrics, %d refused, "
                "%s in %.1f s: %s" % (len(done), fresh, total["core"], total["uncore"],
                                      total["metrics"], refused, format_size(size), seconds, where))
