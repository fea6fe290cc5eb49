// SPDX-License-Identifier: MIT
// The driver of the golden vectors for JavaScript (tests/driver/README.md):
//
//     node vectors.mjs PACKAGE < REQUESTS
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { open, PerfmonError } = await import(pathToFileURL(process.argv[2] + "/perfmon.js"));
const perfmon = await open();

const escape = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
const quote = (text) => JSON.stringify(text).replace(/[^ -~]/g, escape);
const hex = (n) => `"0x${n.toString(16)}"`;
const list = (items, show) => `[${items.map(show).join(", ")}]`;
const registers = (regs) =>
  list(
    regs,
    (r) =>
      `[${r.kind}, ${r.number}, ${hex(r.address)}, ${hex(r.value)}, ${quote(r.name)}, ` +
      `${r.event ?? -1}]`,
  );

function bits(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

const operations = {
  encode({ text, plm }) {
    const e = perfmon.encode(text, plm ?? 0);
    return (
      `{"rc": 0, "pmu": ${e.pmu}, "event": ${e.number}, "plm": ${e.levels}, ` +
      `"regs": ${registers(e.registers)}, "counters": ${hex(e.counters)}, ` +
      `"type": ${e.attr.type ?? -1}, "config": ${list(e.attr.config, hex)}, ` +
      `"exclude": ${list(e.attr.exclude, Number)}, "precise": ${e.attr.precise}}`
    );
  },
  dispatch({ texts }) {
    const set = perfmon.dispatch(texts);
    return (
      `{"rc": 0, "counters": ${list(set.counters, String)}, ` +
      `"pmcs": ${registers(set.writes)}, "pmds": ${registers(set.reads)}}`
    );
  },
  decode({ pmu, reg, value }) {
    return `{"events": ${list(perfmon.decode(pmu, reg, value), quote)}}`;
  },
  print({ text, dialect }) {
    const name = ["libpfm", "libpmc", "perf", "vendor"][dialect];
    return `{"rc": 0, "text": ${quote(perfmon.print(text, name))}}`;
  },
  plan({ texts }) {
    const { rounds, bound, groups } = perfmon.plan(texts);
    return `{"rc": 0, "rounds": ${rounds}, "bound": ${bound}, "groups": ${list(groups, quote)}}`;
  },
  metric({ text, values }) {
    const m = perfmon.metric(text, values);
    return (
      `{"rc": 0, "state": ${quote(m.state)}, "value": ${hex(bits(m.value))}, ` +
      `"missing": ${m.missing ?? -1}}`
    );
  },
};

function answer(request) {
  try {
    return operations[request.op](request);
  } catch (e) {
    if (!(e instanceof PerfmonError)) throw e;
    if (request.op === "metric") return `{"rc": ${e.code}}`;
    return (
      `{"rc": ${e.code}, "kind": ${quote(e.kind)}, "start": ${e.start}, "end": ${e.end}, ` +
      `"sentence": ${quote(e.message)}, "clash": ${list(e.clash, String)}}`
    );
  }
}

const lines = readFileSync(0, "utf8").split("\n").filter(Boolean);
process.stdout.write(lines.map((line) => answer(JSON.parse(line)) + "\n").join(""));
