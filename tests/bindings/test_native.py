#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The driver in C of the native interface, with which the drivers of bindings are compared, gives
the register values of the golden vectors."""
import json
import unittest

import tap
import native_requests


class Golden(unittest.TestCase):
    def answers(self, requests):
        lines = [json.dumps(r) for r in requests]
        out = native_requests.ask([native_requests.VECTORS, "native", "--json"], lines)
        return [json.loads(line) for line in out]

    def test_encoded_events_of_the_core_have_the_golden_registers(self):
        vectors = [v for v in native_requests.golden("core") if v["ok"]]
        compared = 0
        found = self.answers({"op": "encode", "text": "core::" + v["spec"]} for v in vectors)
        for vector, answer in zip(vectors, found):
            with self.subTest(event=vector["spec"]):
                self.assertEqual(answer["rc"], 0)
                if vector.get("evsel_en_int"):
                    self.assertEqual(int(answer["regs"][0][3], 16),
                                     int(vector["evsel_en_int"], 16))
                    compared += 1
        self.assertGreaterEqual(compared, 300)

    def test_refused_set_names_the_event_at_fault(self):
        for op in ("dispatch", "plan"):
            answer, = self.answers([{"op": op, "texts": ["skl::INST_RETIRED.ANY",
                                                         "skl::NO_SUCH_EVENT"]}])
            self.assertEqual(answer["sentence"], '"NO_SUCH_EVENT" is not an event of skl')

    def test_placed_sets_of_montecito_have_the_golden_registers(self):
        vectors = [v for v in native_requests.golden("montecito")
                   if v["k"] == "alone" and set(v["req"]) == {"ev"}
                   and all(isinstance(e, str) for e in v["req"]["ev"])]
        better = {v["id"] for v in native_requests.golden("montecito_better")}
        found = self.answers({"op": "dispatch", "texts": ["montecito::" + e
                                                          for e in v["req"]["ev"]]}
                             for v in vectors)
        self.assertGreaterEqual(len(vectors), 500)
        for vector, answer in zip(vectors, found):
            if vector["id"] not in better and vector["res"]["rc"] == 0:
                with self.subTest(id=vector["id"]):
                    self.assertEqual([[r[1], int(r[3], 16)] for r in answer["pmcs"]],
                                     [[r[0], int(r[1], 16)] for r in vector["res"]["pmc"]])


if __name__ == "__main__":
    tap.main()
