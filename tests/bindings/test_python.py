#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module gives the answers of the driver in C to all requests of the bindings. Its
objects have no numbers of PMUs, events and no names of registers, and count places in characters:
the other members are compared."""
import json
import os
import struct
import sys
import unittest

import tap
import native_requests

sys.path.insert(0, os.path.join(os.environ["PERFMON_BUILD"], "python"))
try:
    import perfmon
except ImportError:
    perfmon = None


def registers(found):
    return [[int(r.kind), r.num, hex(r.addr), hex(r.value), -1 if r.event is None else r.event]
            for r in found]


def expected_registers(found):
    return [[kind, number, address, value, event]
            for kind, number, address, value, _, event in found]


def mask(counters):
    return hex(sum(1 << counter for counter in counters))


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not perfmon:
            raise unittest.SkipTest("no Python module")
        cls.context = perfmon.Context(host=False, images=False)

    def encode(self, request, answer):
        event = self.context.event(request["text"], plm=request["plm"])
        self.assertEqual((event.plm, mask(event.counters), registers(event.registers)),
                         (answer["plm"], answer["counters"], expected_registers(answer["regs"])))
        a = event.perf_attr
        if a:
            self.assertEqual([hex(n) for n in (a.config, a.config1, a.config2)], answer["config"])
            self.assertEqual([a.exclude_user, a.exclude_kernel, a.exclude_hv, a.precise],
                             [*map(bool, answer["exclude"]), answer["precise"]])

    def dispatch(self, request, answer):
        placed = self.context.dispatch(request["texts"])
        self.assertEqual([-1 if c is None else c for c in placed.counters], answer["counters"])
        self.assertEqual(registers(placed.pmcs), expected_registers(answer["pmcs"]))
        self.assertEqual(registers(placed.pmds), expected_registers(answer["pmds"]))

    def decode(self, request, answer):
        found = self.context.pmus[request["pmu"]].decode(request["reg"], int(request["value"], 16))
        self.assertEqual(list(found.events)[:8], answer["events"])

    def print(self, request, answer):
        dialect = ("libpfm", "libpmc", "perf", "vendor")[request["dialect"]]
        self.assertEqual(self.context.print(request["text"], dialect), answer["text"])

    def plan(self, request, answer):
        plan = perfmon.plan(request["texts"], context=self.context)
        self.assertEqual((plan.rounds, plan.bound, len(plan)),
                         (answer["rounds"], answer["bound"], len(answer["groups"])))

    def metric(self, request, answer):
        metric = self.context.metric(request["text"])
        counts = dict(zip([i.text for i in metric.inputs], request["values"]))
        value = metric.compute(counts)
        self.assertEqual(value.value is not None, answer["state"] == "defined")
        if value.value is not None:
            self.assertEqual(float(value.value).hex(), bits_to_hex(answer["value"]))

    def test_requests_have_the_answers_of_c(self):
        lines = native_requests.all_requests()
        answers = native_requests.ask([native_requests.VECTORS, "native", "--json"], lines)
        self.assertGreaterEqual(len(lines), 2000)
        for line, text in zip(lines, answers):
            request, answer = json.loads(line), json.loads(text)
            with self.subTest(request=line):
                try:
                    getattr(self, request["op"])(request, answer)
                except perfmon.PerfmonError as refused:
                    self.assertLess(answer["rc"], 0)
                    if request["op"] != "metric":   # its refusal is of an argument
                        self.assertEqual(int(refused.code), answer["rc"])
                    if "kind" in answer:
                        self.assertEqual((refused.kind, refused.message, list(refused.clash)),
                                         (answer["kind"], answer["sentence"], answer["clash"]))


def bits_to_hex(text):
    return struct.unpack(">d", int(text, 16).to_bytes(8, "big"))[0].hex()


if __name__ == "__main__":
    tap.main()
