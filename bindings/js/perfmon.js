// SPDX-License-Identifier: MIT
// The encoder of libperfmon in WebAssembly: perfmon.wasm is the code, perfmon.tables the tables.

/** Why a call failed. */
export class PerfmonError extends Error {
  constructor(answer) {
    super(answer.sentence || `error ${answer.rc}`);
    this.name = "PerfmonError";
    this.code = answer.rc;
    this.kind = answer.kind ?? "";
    this.start = answer.start ?? 0;
    this.end = answer.end ?? 0;
    this.clash = answer.clash ?? [];
    this.suggestions = answer.suggestions ?? [];
  }
}

async function readBytes(url) {
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return readFile(url);
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

// The module asks the system for an environment and files: it has none. 52 is ENOSYS, 8 is EBADF.
function makeImports(getMemory) {
  const zero = (...pointers) => {
    const view = new DataView(getMemory().buffer);
    for (const at of pointers) view.setUint32(at, 0, true);
    return 0;
  };
  const calls = {
    environ_sizes_get: zero,
    environ_get: () => 0,
    fd_prestat_get: () => 8,
    clock_time_get: (_id, _precision, at) => {
      new DataView(getMemory().buffer).setBigUint64(at, 0n, true);
      return 0;
    },
    proc_exit: (code) => {
      throw new Error(`the module ended with ${code}`);
    },
  };
  return new Proxy(calls, { get: (object, name) => object[name] ?? (() => 52) });
}

const register = ([kind, number, address, value, name, event]) => ({
  kind,
  number,
  address: BigInt(address),
  value: BigInt(value),
  name,
  event: event < 0 ? null : event,
});

/** The tables of all processors. open() makes one. */
export class Perfmon {
  #exports;
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();

  constructor(exports) {
    this.#exports = exports;
  }

  #store(bytes) {
    const at = this.#exports.perfmon_allocate(bytes.length || 1);
    if (!at) throw new Error("out of memory");
    new Uint8Array(this.#exports.memory.buffer).set(bytes, at);
    return at;
  }

  /** Calls a function with texts, lists of doubles and numbers, and reads its answer. */
  #call(name, ...values) {
    const stored = [];
    const keep = (bytes) => (stored.push(this.#store(bytes)), stored.at(-1));
    const raw = values.map((value) => {
      if (typeof value === "number") return value;
      if (value instanceof Float64Array) return keep(new Uint8Array(value.buffer));
      return keep(this.#encoder.encode(value + "\0"));
    });
    const at = this.#exports[name](...raw);
    const memory = new Uint8Array(this.#exports.memory.buffer);
    const text = this.#decoder.decode(memory.subarray(at, memory.indexOf(0, at)));
    stored.forEach((place) => this.#exports.perfmon_release(place));
    const answer = JSON.parse(text);
    if (answer.rc < 0) throw new PerfmonError(answer);
    return answer;
  }

  encode(text, levels = 0) {
    const a = this.#call("perfmon_encode", text, levels);
    return {
      pmu: a.pmu,
      number: a.event,
      levels: a.plm,
      registers: a.regs.map(register),
      counters: BigInt(a.counters),
      attr: {
        type: a.type < 0 ? null : a.type,
        config: a.config.map(BigInt),
        exclude: a.exclude.map(Boolean),
        precise: a.precise,
      },
    };
  }

  dispatch(texts) {
    const a = this.#call("perfmon_dispatch", texts.join("\n"));
    return {
      counters: a.counters,
      writes: a.pmcs.map(register),
      reads: a.pmds.map(register),
    };
  }

  decode(pmu, name, value) {
    return this.#call("perfmon_decode", pmu, name, `0x${BigInt(value).toString(16)}`).events;
  }

  print(text, dialect = "libpfm") {
    const number = ["libpfm", "libpmc", "perf", "vendor"].indexOf(dialect);
    if (number < 0) throw new RangeError(`unknown dialect ${dialect}`);
    return this.#call("perfmon_print", text, number).text;
  }

  plan(texts) {
    const a = this.#call("perfmon_plan", texts.join("\n"));
    return { groups: a.groups, rounds: a.rounds, bound: a.bound };
  }

  metric(text, values = []) {
    const a = this.#call("perfmon_metric", text, Float64Array.from(values), values.length);
    return {
      state: a.state,
      value: a.value,
      missing: a.missing < 0 ? null : a.missing,
      unit: a.unit,
      inputs: a.inputs,
    };
  }

  describe(text) {
    const a = this.#call("perfmon_describe", text);
    delete a.rc;
    return { ...a, counters: BigInt(a.counters) };
  }

  pmus() {
    return this.#call("perfmon_pmus").pmus.map(([name, description]) => ({ name, description }));
  }
}

// The words from wordsAt on are four rows of bytes, lowest bytes first: they compress better so.
function unpack(image, wordsAt, memory, at) {
  const n = (image.length - wordsAt) / 4;
  const out = new DataView(memory, at + wordsAt);
  const byte = (word, row) => image[wordsAt + row * n + word] << (8 * row);
  new Uint8Array(memory, at).set(image.subarray(0, wordsAt));
  for (let i = 0; i < n; i++)
    out.setUint32(4 * i, byte(i, 0) | byte(i, 1) | byte(i, 2) | byte(i, 3), true);
}

/** Loads the module and the tables: from this folder, or what the options give. */
export async function open({ wasm, tables } = {}) {
  const [code, image] = await Promise.all([
    wasm ?? readBytes(new URL("perfmon.wasm", import.meta.url)),
    tables ?? readBytes(new URL("perfmon.tables", import.meta.url)),
  ]);
  let exports = null;
  const imports = { wasi_snapshot_preview1: makeImports(() => exports.memory) };
  const { instance } = await WebAssembly.instantiate(code, imports);
  exports = instance.exports;
  exports._initialize?.();
  if (image.length !== exports.perfmon_tables_size())
    throw new Error("perfmon.tables is not of the build of perfmon.wasm");
  unpack(image, exports.perfmon_words_at(), exports.memory.buffer, exports.perfmon_tables());
  const rc = exports.perfmon_open();
  if (rc < 0) throw new PerfmonError({ rc });
  return new Perfmon(exports);
}
