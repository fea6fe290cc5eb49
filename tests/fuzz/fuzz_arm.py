#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutated lists in Arm's own JSON, in memory: one input is one list of a few events, read by the
reader alone.

    fuzz_arm.py [--runs N] [--seconds N] [--seed N] [--trace N] [--keep FOLDER] [--library
    libperfmon.so] FILE-OR-FOLDER...

Most inputs are objects with other values in them; of every eighth it is the text that has other
bytes. What comes out of each is one row, one refusal or one note for every event, refusals with
file, event, key and a reason, never an exception; and rows as the compiler takes them. One input in
2,000, and each that reaches something new, is compiled: to an image, and once more from its own
text, which has to say the same. Lines are watched for one input in --trace; of the others what was
refused and why is what may be new. The same seed gives the same inputs. What breaks something is
made small, printed, and kept as --keep/broken.
"""

import argparse
import gc
import json
import os
import random
import shutil
import sys
import time

import fuzz_lists
from fuzz_lists import (
    FIXED_TIME, HOSTILE, VALUES, Wrong, check_image, keep, read_all, report, time_bound)

from vendors import arm
from language import table_compiler
from image import image_writer
from language import tables as pt
from vendors.drafts import LIBRARY, ModelReading
from vendors.lists import Model
from vendors.untrusted import MAX_NAME, parse_json
from language.statements import split_statements

COMPILED = 2000         # one input in so many is compiled
FORGET = 50000          # what the readers remember of texts grows with each input
MAX_EVENTS = 4
OF_LIST = ("_type", "timestamp", "cpuid", "cpu", "pmu_architecture", "counters", "events")
OF_EVENT = ("code", "name", "description", "component", "trm_name")
NUMBERS = (0, 1, 2, 16, 17, 18, 30, 31, 32, 63, 64, 255, 256, 0x3FF, 0x400, 0x4000, 0xFFFF, 0x10000,
           2**31, 2**32, 2**63, 2**64, 10**23, 10**24)
LENGTHS = (30, 31, 60, 99, 100, 101, 239, 240, 241, 255, 256, 1000, 16384, 16385)
PIECES = tuple(
    "\"\\\n\r\t\0"
    " ,;:.=#@'-_%/$(){}[]\x1b\x7f\x85\xa0\u00e9\u00df\u0130\u0131\u0300\u200b\u2028\u202e\ufeff\ufffd\U0001f600"
)
PIECES += ("  ", "\\\"", "\" \"", "alias=", "on=none", " hidden", "null", "0x", "\\u0000")
TOKENS = (b"{", b"}", b"[", b"]", b",", b":", b"\"", b"\\", b"\\u0000", b"\\ud800", b"null",
          b"true", b"NaN", b"-Infinity", b"1e999", b"-0", b"0.5", b"0" * 30, b"1" * 24, b"1" * 25,
          b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\0", b" ", b"\n", b"//",
          b"\"name\": \"B\", \"name\": \"A\",", b"\"code\": 17,", b"[" * 1500)


# ---- what is tried -------------------------------------------------------------------------------

class Trial(fuzz_lists.Trial):
    """Reads lists of one processor that is known, and of one that is not."""

    def __init__(self, library):
        super().__init__("arm", library)
        self.models = [
            Model("arm", name.replace("-", "_"), name, [(name + ".json", name, b"")], arch="arm64")
            for name in ("cortex-a53", "invented-f1")
        ]
        self.image, self.number = os.path.join(self.folder, "x.pmdb"), 0
        self.outcomes, self.compiled, self.refused = set(), 0, 0

    def attempt(self, data, folder, library):
        """A text: what the tests and the search for the smallest one try."""
        for model in self.models:
            reading = self.text(data, model)
            self.check(reading, None)
            self.compile(reading)

    @staticmethod
    def text(data, model):
        model.files = [(model.files[0][0], model.files[0][1], data)]
        reading = ModelReading(model)
        arm.is_arm_list(data[:256])
        arm.read_arm_lists(reading)
        return reading

    def value(self, value, model):
        reading = ModelReading(model)
        reading.file = model.files[0][0]
        arm.read_core(reading, value)
        events = value["events"]
        self.check(
            reading,
            (len(events) if type(events) is list else 1) if type(value.get("cpu")) is str else None)
        return reading

    def check(self, reading, events):
        """Checks the properties that every reading must have."""
        rows, others = (), 0
        for b in reading.builders.values():
            rows = b.rows
            for row in rows:
                name, code = row.name, row.values[0][1]
                if not (name.strip() == name != "" and name.isprintable()
                        and len(name) <= MAX_NAME):
                    raise Wrong("a row called %r" % name)
                if (
                    type(code) is not int
                    or not 0 <= code <= 0xFFFF
                    or not row.counters
                    or row.counters & ~b.known
                ):
                    raise Wrong("a row with code %r on %r" % (code, row.counters))
        for file, event, key, reason in reading.refused:
            if not (file and event and key and reason) or reason.startswith("not understood"):
                raise Wrong("a refusal without file, event, key or reason: %r" %
                            ((file, event, key, reason), ))
            if len(event) > MAX_NAME or type(event) is not str:
                raise Wrong("a refusal of %r" % event)
            others += key not in ("cpuid", "cpu")
            if (key, reason[:11] if key == "-" else reason[-12:]) not in self.outcomes:
                self.outcome(key, reason[:11] if key == "-" else reason[-12:])
        for _, _, _, reason in reading.notes:
            others += reason[-8:] == "left out"
            if reason[-12:] not in self.outcomes:
                self.outcome(reason[-12:])
        if reading.counts["core"] != len(
                rows) or events is not None and len(rows) + others != events:
            raise Wrong("%d rows, %d counted, and %d others" %
                        (len(rows), reading.counts["core"], others))

    def outcome(self, *what):
        self.outcomes.add(what if what[1:] else what[0])
        self.new = True

    def compile(self, reading):
        """The tables, and what their text means."""
        self.compiled += 1
        known = len(reading.refused)
        tables = reading.compile_tables()
        self.refused += len(reading.refused) - known
        if not tables:
            return
        shapes = [shape(t) for t in tables]     # the writer of images adds a flag to rows
        image = image_writer.make_image(tables, sys.byteorder, b"\0" * 32, 0)
        with open(self.image, "wb") as f:
            f.write(image)
        check_image(self.image, self.library)
        text = "\n".join("\n".join(identity + body)
                         for _, _, identity, body in reading.format_parts()) + "\n"
        for sheet, t, was, again in zip(reading.list_sheets(), tables, shapes, compiled(text)):
            if was != shape(again):
                raise Wrong("its text means something else: %r, %r" % (was, shape(again)))
            for own, row in zip(sheet.rows, t.rows):
                if (own.name, own.counters, own.aliases, row.values[0][2]) != (
                        row.name, row.counters, row.aliases, own.values[0][1]):
                    raise Wrong("a row that became another: %r, %r" % (own.line(0, 0,
                                                                                ()), vars_of(row)))

    def run(self, mutator, doc, text, model, traced):
        """One input, as an object or, if there is one, as a text. None, or (the text, what went
        wrong)."""
        self.new = False
        began = time.process_time()
        try:
            if traced:
                sys.settrace(self.trace)
            if text is None:
                reading = self.value(doc, model)
            else:
                reading = self.text(text, model)
                self.check(reading, None)
            if traced:
                sys.settrace(None)
            self.number += 1
            if self.new or self.number % COMPILED == 0:
                self.compile(reading)
            took = time.process_time() - began
            if took > FIXED_TIME and took > time_bound(
                    json.dumps(doc).encode() if text is None else text):
                raise Wrong("took %.1f seconds of processor time" % took)
        except (Exception, SystemExit) as e:
            sys.settrace(None)
            data = json.dumps(doc).encode() if text is None else text
            return data, self(data) or self.wrong(e)
        return None


def compiled(text):
    """Tables of a text, which has to be without errors."""
    name = "text.pmu"
    parts = LIBRARY.files[name] = table_compiler.split_parts(
        split_statements(text, name, LIBRARY.errors), name)
    errors = LIBRARY.errors[:]
    tables = [t for t, _ in table_compiler.compile_parts(LIBRARY, parts, errors, lambda part: True)]
    LIBRARY.forget_file(name)
    if errors:
        raise Wrong("its text does not compile: %s" % errors[0][1])
    return tables


def vars_of(row):
    return [getattr(row, s) for s in pt.Row.__slots__ if s != "where"]


def shape(t):
    return ([t.name, t.desc, t.encoder, t.device, t.source, t.aliases] +
            [vars_of(r) for r in t.rows] + [[getattr(m, s) for s in pt.Match.__slots__]
                                            for m in t.matches])


# ---- other inputs out of known ones --------------------------------------------------------------

class Mutator:
    def __init__(self, seed):
        self.random = random.Random(seed).random

    def one(self, of):
        return of[int(self.random() * len(of))]

    def string(self, s):
        random = self.random
        at, how = int(random() * (len(s) + 1)), int(random() * 12)
        if how < 5:
            return s[:at] + self.one(PIECES) + s[at:]
        if how < 7:
            return s[:at] + s[at + 1 + int(random() * 3):]
        if how == 7:
            return self.one((s.lower(), s.upper(), s.swapcase(), s.replace("_", "."),
                             s.replace("_", ""), s + " ", " " + s, s + s))
        if how == 8:
            return self.one(HOSTILE)
        if how == 9:
            return s[:at] + s[int(random() * (len(s) + 1)):]
        if how == 10:
            return s[:at] + chr(int(random() * 0x300)) + s[at:]
        n = LENGTHS[int(random() * random() * len(LENGTHS))]
        return ((s or "x") * (n // len(s or "x") + 1))[:n]

    def other(self, value, key, docs):
        """Another value for a key."""
        random = self.random
        how = random()
        if how < 0.6:
            if type(value) is str:
                return self.string(value)
            if type(value) is int:
                return self.one((value + 1, value - 1, -value, value ^ 1 << int(random() * 18),
                                 self.one(NUMBERS), str(value), float(value)))
        if how < 0.75:
            return self.one(VALUES) if random() < 0.9 else self.one(NUMBERS)
        # The value that another event or document has for this key or another one.
        where = self.one(docs)
        if key not in OF_LIST and type(where.get("events")) is list and where["events"]:
            where = self.one(where["events"])
            if type(where) is not dict:
                return where
        if how < 0.95:
            return where.get(key, value)
        return self.one(list(where.values()) or [value])

    def step(self, doc, docs):
        random, events = self.random, doc.get("events")
        if type(events) is not list:
            events = ()
        if random() < 0.15:
            self.list_of_events(doc, events, docs)
            return
        where, keys = (doc, OF_LIST) if not events or random() < 0.3 else (self.one(events),
                                                                           OF_EVENT)
        if type(where) is not dict:
            return
        how = random()
        key = self.one(keys) if how < 0.85 else self.one(list(where) or keys)
        if key == "events":
            if random() < 0.1:
                where[key] = self.one(VALUES)
        elif how < 0.1:
            where.pop(key, None)
        elif how < 0.13:
            where[self.one(keys if random() < 0.7 else HOSTILE)] = where.pop(key, None)
        else:
            where[key] = self.other(where.get(key), key, docs)

    def list_of_events(self, doc, events, docs):
        """Events more, less or in another order."""
        how = int(self.random() * 6)
        events = list(events)
        if how == 0 and events:
            del events[int(self.random() * len(events))]
        elif how == 1 and events:
            twin = self.one(events)         # the same name, in another way of writing it
            events.append(
                dict(twin, name=self.string(twin["name"])
                     ) if type(twin) is dict and type(twin.get("name")) is str else twin)
        elif how == 2:
            events.insert(int(self.random() * (len(events) + 1)), self.one(VALUES))
        elif how == 3:
            events.reverse()
        else:
            other = self.one(docs).get("events")
            if type(other) is list and other:
                events.insert(0, self.one(other))
        doc["events"] = [dict(e) if type(e) is dict else e for e in events[-MAX_EVENTS:]]

    def object(self, doc, docs):
        """A copy of @doc with one to six other things in it."""
        doc = dict(doc)
        events = doc.get("events")
        if type(events) is list:
            doc["events"] = [dict(e) if type(e) is dict else e for e in events]
        self.step(doc, docs)
        while self.random() < 0.5:
            self.step(doc, docs)
        doc.setdefault("events", [])
        return doc

    def text(self, text, texts):
        """Other bytes."""
        random = self.random
        while True:
            at, how = int(random() * (len(text) + 1)), int(random() * 6)
            if how < 2:
                text = text[:at] + self.one(TOKENS) + text[at + int(random() * 3):]
            elif how == 2:
                text = text[:at] + bytes((int(random() * 256),)) + text[at + int(random() * 2):]
            elif how == 3:
                text = text[:at] + text[at + int(random() * random() * 60):]
            elif how == 4:
                end = at + int(random() * 60)
                text = text[:end] + text[at:]
            else:
                other = self.one(texts)
                start = int(random() * len(other))
                text = text[:at] + other[start:start + int(random() * 60)] + text[at:]
            if random() < 0.5:
                return text[:4000]


# ---- the run -------------------------------------------------------------------------------------

class Corpus:
    """Objects, texts, and how both are chosen from."""

    def __init__(self, folder):
        self.docs, self.texts, self.folder = [{}], [], folder

    def add(self, text, name=None):
        try:
            value = parse_json(text, lambda *note: None)
        except ValueError:
            value = None
        if type(value) is dict:
            self.docs.append(value)
        self.texts.append(text)
        if name:
            keep(self.folder, name, text)


def forget():
    """The memory of texts that are not asked for again."""
    for o in gc.get_objects():
        if isinstance(o, pt.ComputedDict):
            o.clear()
    table_compiler.MEANINGS.clear()


def fuzz(options, trial):
    mutator, corpus = Mutator(options.seed), Corpus(options.keep)
    random, docs, texts = mutator.random, corpus.docs, corpus.texts
    for name, data in read_all(options.corpus):
        wrong = trial(data)
        if wrong:
            return report(trial, name, data, wrong, options.keep)
        corpus.add(data)
        if options.useless and not trial.new:
            print("useless: " + name)
    gc.freeze()
    known, began = len(trial.reached), time.monotonic()
    end = began + (options.seconds or 1e9)
    runs, limit = 0, options.runs if not options.seconds else 1 << 62
    while runs < limit:
        runs += 1
        if not runs & 7:
            doc, text = None, mutator.text(mutator.one(texts), texts)
        else:
            # New ones are tried most.
            at = len(docs) - 1 - int(random() * 8) if random() < 0.3 else int(random() * len(docs))
            doc, text = mutator.object(docs[at], docs), None
        traced = not runs % options.trace
        wrong = trial.run(mutator, doc, text, trial.models[runs & 1], traced)
        if wrong:
            return report(trial, "input %d of seed %d" % (runs, options.seed), *wrong, options.keep)
        if trial.new:
            data = json.dumps(doc).encode() if text is None else text
            if len(data) < 4000:
                corpus.add(data, "%d_%09d" % (options.seed, runs))
        if not runs % FORGET:
            forget()
            if time.monotonic() > end:
                break
            if options.progress and not runs % (FORGET * 20):
                say(options, trial, runs, known, began, len(texts))
    say(options, trial, runs, known, began, len(texts))
    return 0


def say(options, trial, runs, known, began, kept):
    print(
        "%d inputs from seed %d, %d of them compiled, %d pairs of lines reached, %d of them new, %d"
        " inputs kept%s"
        % (
            runs,
            options.seed,
            trial.compiled,
            len(trial.reached),
            len(trial.reached) - known,
            kept,
            (
                ", %d a second, %d rows refused by the compiler"
                % (runs / (time.monotonic() - began), trial.refused)
                if options.progress
                else ""
            ),
        ),
        flush=True,
    )


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("corpus", nargs="+")
    p.add_argument("--runs", type=int, default=1000)
    p.add_argument("--seconds", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--trace", type=int, default=10)
    p.add_argument("--keep")
    p.add_argument("--library")
    p.add_argument("--progress", action="store_true", help="a line for each million")
    p.add_argument("--useless", action="store_true",
                   help="name files of the corpus that reach nothing new")
    options = p.parse_intermixed_args()
    fuzz_lists.same_each_time()
    trial = Trial(fuzz_lists.Library(options.library) if options.library else None)
    try:
        return fuzz(options, trial)
    finally:
        shutil.rmtree(trial.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
