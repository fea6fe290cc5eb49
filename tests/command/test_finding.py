#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Search terms of engineers lead to the event that they mean: tests/finding/questions.txt."""
import fnmatch
import json
import os
import subprocess
import unittest

import tap

SOURCE = os.environ.get("PERFMON_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(SOURCE, "build"))
PFM = os.environ.get("PFM", os.path.join(BUILD, "tools", "pfm"))
QUESTIONS = os.path.join(SOURCE, "tests", "finding", "questions.txt")
FIRST = 5    # names that a reader looks at


def read_questions():
    """(processor, question, patterns of good answers) of each line and processor."""
    found = []
    with open(QUESTIONS, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                question, processors, names = (part.strip() for part in line.split("|"))
                found += [(p, question, names.lower().split()) for p in processors.split()]
    return found


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LIBPFM_", "XDG_"))}
    env["XDG_DATA_HOME"] = "/nonexistent"
    return env


def first_names(answer, question):
    """The names that an answer of `pfm encode --json` leads to, without PMUs."""
    error = answer.get("error")
    if not error:
        names = [answer["event"]]
    elif "got a metric;" in error["message"]:    # the question is the name of a metric
        names = [question.replace(" ", "_")]
    else:
        names = error.get("suggest", [])[:FIRST]
    return [name.rpartition("::")[2].lower() for name in names]


class Finding(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.questions = read_questions()
        texts = "".join("%s::%s\n" % (p, q) for p, q, _ in cls.questions)
        done = subprocess.run([PFM, "encode", "--json", "-"], input=texts, capture_output=True,
                              text=True, env=environment())
        cls.answers = [json.loads(line) for line in done.stdout.splitlines()]

    def test_questions_cover_ten_processors(self):
        self.assertEqual(len(self.answers), len(self.questions))
        self.assertGreaterEqual(len(self.questions), 200)
        self.assertGreaterEqual(len({p for p, _, _ in self.questions}), 10)

    def test_good_answers_are_among_the_first_five(self):
        wrong = []
        for (pmu, question, wanted), answer in zip(self.questions, self.answers):
            found = first_names(answer, question)
            if not any(fnmatch.fnmatch(name, pattern) for name in found for pattern in wanted):
                wrong.append("%s::%s: expected %s, got %s" % (pmu, question, wanted, found))
        self.assertEqual(wrong, [])

    def test_list_d_shows_good_answers_first(self):
        """Words of descriptions count, too, so that names of other spellings are found."""
        wrong = []
        for pmu, question, wanted in self.questions:
            if " " not in question:
                continue
            done = subprocess.run([PFM, "list", "-d", "--json", "--pmu", pmu, question],
                                  capture_output=True, text=True, env=environment())
            rows = [json.loads(line) for line in done.stdout.splitlines()[:FIRST]]
            found = [row.get("event", row.get("metric", "")).lower() for row in rows]
            if not any(fnmatch.fnmatch(name, pattern) for name in found for pattern in wanted):
                wrong.append("%s::%s: expected %s, got %s" % (pmu, question, wanted, found))
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    tap.main()
