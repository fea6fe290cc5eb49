#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library with a thousand processors built in: right answers, and nothing that grows with their
number.

The processors are invented: each has a core with events of its own beside some that all have, and a
box. Programs are linked with an image of them instead of the library's own. Instructions are
counted by valgrind, where it is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(HERE, "..")
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(SOURCE, "compiler")]
from image import image_writer  # noqa: E402
from language import tables as pt  # noqa: E402
from instructions import count_instructions  # noqa: E402
from tap import main  # noqa: E402

LIBRARY = os.path.join(os.environ.get("PERFMON_BUILD", os.path.join(SOURCE, "build")), "lib",
                       "libperfmon.a")
CC = next((c for c in (os.environ.get("CC", "").split() or [""])[:1] + ["cc", "gcc", "clang"]
           if c and shutil.which(c)), None)

PROGRAM = r'''
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/perfmon.h>

/* many CPUID NAME...: opens a context for a processor, encodes each name. -COUNT before a name: so often. */
int main(int argc, char **argv)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *ctx;
	int n = 1;

	o.cpuid = argv[1];
	o.sysfs_root = "/nonexistent";
	o.flags = PFM_CTX_NO_IMAGES;
	if (pfm_open_context(&ctx, &o, NULL))
		return 1;
	for (int i = 2; i < argc; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t why = PFM_INIT(why);
		int rc = 0;

		if (argv[i][0] == '-') {
			n = atoi(argv[i] + 1);
			continue;
		}
		while (n-- > 0)
			rc = pfm_encode_event(ctx, argv[i], 0, &e, &why);
		n = 1;
		printf("%s %d %" PRIx64 "\n", argv[i], rc, rc ? 0 : e.attr.config);
	}
	pfm_close_context(ctx);
	return 0;
}
'''


def part(whole, name, i):
    """A box of processor @whole."""
    box = pt.Table(name, "Invented box of processor %s" % whole, "format")
    box.flags, box.unit, box.family_name = pt.TABLE_UNCORE, "box", whole
    box.add_field(pt.Field("code", ranges=[(0, 0, 16)]))
    box.rows = [pt.Row("IN_BOX", "In the box.", 0, [(0, pt.ANY_COUNTER, 0x2000 + i)])]
    return box


def processors(n):
    """Cores pN for family 6, model N, and boxes pN_box that are parts of them; p1 does not begin
    p18's name. Before them one of 40 boxes without a core."""
    tables = [part("wide", "wide_box%d" % i, i) for i in range(40)]
    for i in range(n):
        t = pt.Table("p%d" % i, "Invented processor %d" % i, "format")
        t.counters = [pt.Counter(0, 3, 48)]
        t.add_field(pt.Field("code", ranges=[(0, 0, 16)], modifier=False))
        t.matches = [pt.Match("x86", "GenuineIntel", 6, i, i)]
        t.rows = [pt.Row("CYCLES", "Cycles.", 15, [(0, pt.ANY_COUNTER, 0x1000 + i)])]
        t.rows += [
            pt.Row("EVENT_%d" % k, "Event %d." % k, 15, [(0, pt.ANY_COUNTER, k)]) for k in range(20)
        ]
        tables.append(t)
        tables.append(part("p%d" % i, "p%d_box" % i, i))
    return tables


@unittest.skipUnless(CC and os.path.exists(LIBRARY),
                     "no C compiler, or no static library (PERFMON_BUILD)")
class Many(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.programs = {n: cls.build(n) for n in (7, 500)}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def build(cls, n):
        image, embed, source, program = (os.path.join(cls.folder.name, "%d%s" % (n, end))
                                         for end in (".pmdb", ".S", ".c", ""))
        raw = image_writer.make_image(processors(n), sys.byteorder)
        for path, text in ((image, raw), (embed, image_writer.make_embedding(image, raw).encode()),
                           (source, PROGRAM.encode())):
            with open(path, "wb") as f:
                f.write(text)
        subprocess.run([
            CC, "-O1", "-I",
            os.path.join(SOURCE, "include"), source, embed, LIBRARY, "-lpthread", "-o", program
        ], check=True, capture_output=True)
        return program

    def answers(self, n, cpuid, *names):
        done = subprocess.run([self.programs[n], cpuid, *names], capture_output=True, text=True,
                              check=True)
        return [tuple(line.split()[1:]) for line in done.stdout.splitlines()]

    def instructions(self, n, *arguments):
        """How many the whole program takes."""
        return count_instructions([self.programs[n], *arguments])

    def test_each_has_its_own(self):
        names = ["p%d::CYCLES" % i for i in (0, 1, 18, 44, 99, 180, 499)]
        self.assertEqual(self.answers(500, "GenuineIntel-6-7-0", *names),
                         [("0", "%x" % (0x1000 + int(n[1:-8]))) for n in names])
        self.assertEqual(
            self.answers(500, "GenuineIntel-6-7-0", "p500::CYCLES", "p18::NOTHING",
                         "p499::EVENT_19"), [("-32", "0"), ("-4", "0"), ("0", "13")])

    def test_a_processor_stands_for_its_parts_and_for_no_others(self):
        self.assertEqual(
            self.answers(500, "GenuineIntel-6-7-0", "p18::IN_BOX", "p1::IN_BOX",
                         "p180_box::IN_BOX"), [("0", "2012"), ("0", "2001"), ("0", "20b4")])

    def test_the_host_is_found(self):
        for model in (0, 7, 255):
            self.assertEqual(self.answers(500, "GenuineIntel-6-%X-0" % model, "CYCLES"),
                             [("0", "%x" % (0x1000 + model))])
        self.assertEqual(self.answers(7, "GenuineIntel-6-55-0", "CYCLES"), [("-4", "0")])

    def test_start_is_flat(self):
        few, many = (self.instructions(n, "GenuineIntel-6-3-0", "p3::CYCLES") for n in (7, 500))
        self.assertLess(many, 1.05 * few)

    def test_finding_the_host_is_flat(self):
        few, many = (self.instructions(n, "GenuineIntel-6-3-0", "CYCLES") for n in (7, 500))
        self.assertLess(many, 1.05 * few)

    def cost(self, n, name):
        """Of a thousand times."""
        return self.instructions(n, "GenuineIntel-6-3-0", "-1100", name) - self.instructions(
            n, "GenuineIntel-6-3-0", "-100", name)

    def test_look_up_is_flat(self):
        """Of names that are there and of some that are not."""
        for name in ("p3::EVENT_7", "p3::NOTHING", "EVENT_7"):
            self.assertLess(self.cost(500, name), 1.15 * self.cost(7, name), name)

    def test_names_that_no_part_has_cost_the_same_with_many_parts(self):
        self.assertEqual(self.answers(7, "GenuineIntel-6-7-0", "wide::IN_BOX", "wide::NOTHING"),
                         [("0", "2000"), ("-4", "0")])
        self.assertLess(self.cost(7, "wide::NOTHING"), 1.15 * self.cost(7, "p3::NOTHING"))


if __name__ == "__main__":
    main()
