// SPDX-License-Identifier: MIT
// The page of the encoder: each form has one answer, and its fields are in the address, so that a
// link leads to the answer.
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const hex = (n) => `0x${n.toString(16)}`;
const lines = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
const CONFIG_WORD = 6; // PFM_REG_CONFIG
const hasAddress = (r) => r.kind !== CONFIG_WORD && !r.name.endsWith(`${r.address}`);
const showRegister = (r) => `${r.name} = ${hex(r.value)}${hasAddress(r) ? ` at ${hex(r.address)}` : ""}`;

function showCounters(mask) {
  const counters = [];
  for (let i = 0n; i < 64n; i++) if ((mask >> i) & 1n) counters.push(i < 32n ? `${i}` : `F${i - 32n}`);
  return counters.length ? counters.join(", ") : "none needed";
}

function showSpellings(perfmon, text) {
  return ["perf", "libpfm", "vendor"].flatMap((dialect) => {
    try {
      return [`${dialect}: ${perfmon.print(text, dialect)}`];
    } catch {
      return []; // the dialect cannot express it
    }
  });
}

const answers = {
  encode(perfmon, { text }) {
    const event = perfmon.encode(text);
    const about = perfmon.describe(text);
    return [
      about.processor,
      about.text,
      ...event.registers.map(showRegister),
      `raw: ${hex(event.attr.config[0])}`,
      ...showSpellings(perfmon, text),
      `counters: ${showCounters(event.counters)}`,
      ...about.errata.map((effect) => `erratum: ${effect}`),
      `source: ${about.source}`,
    ].join("\n");
  },
  decode(perfmon, { pmu, text }) {
    return lines(text)
      .map((line) => {
        const [name, value = "0"] = line.split("=");
        const events = perfmon.decode(pmu, name.trim(), value.trim());
        return `${name.trim()}: ${events.length ? events.join(" or ") : "no event"}`;
      })
      .join("\n");
  },
  fit(perfmon, { text }) {
    const events = lines(text);
    const set = perfmon.dispatch(events);
    const name = (n) => (n < 0 ? "no counter" : n < 32 ? `counter ${n}` : `fixed counter ${n - 32}`);
    return [
      "They fit.",
      ...events.map((event, i) => `${event}: ${name(set.counters[i])}`),
      ...set.writes.map(showRegister),
    ].join("\n");
  },
  metric(perfmon, { name, text }) {
    const counts = text.split(/[\s,]+/).filter(Boolean).map(Number);
    const metric = perfmon.metric(name, counts);
    const value = metric.state === "defined" ? `${metric.value} ${metric.unit}` : metric.state;
    return [`${name}: ${value}`, ...metric.inputs.map((input, i) => `${input}: ${counts[i] ?? "no count"}`)].join("\n");
  },
};

function explainClash(error, values) {
  const events = lines(values.text ?? "");
  return (error.clash ?? []).map((i) => `\n  ${events[i]}`).join("");
}

function answer(perfmon, form) {
  const values = Object.fromEntries(new FormData(form));
  const output = form.querySelector("output");
  try {
    output.textContent = answers[form.id](perfmon, values);
    output.className = "";
  } catch (error) {
    const similar = error.suggestions?.length ? `\nSimilar: ${error.suggestions.join(", ")}` : "";
    output.textContent = error.message + explainClash(error, values) + similar;
    output.className = "refused";
  }
}

function readAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const form = document.getElementById(parameters.get("form") ?? "");
  if (!form) return null;
  for (const [name, value] of parameters) if (form.elements[name]) form.elements[name].value = value;
  return form;
}

async function main() {
  const perfmon = await open({ wasm: bytes(perfmonData.wasm), tables: bytes(perfmonData.tables) });
  for (const form of document.querySelectorAll("form"))
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      location.hash = new URLSearchParams([["form", form.id], ...new FormData(form)]);
      answer(perfmon, form);
    });
  const show = () => {
    const form = readAddress();
    if (form) answer(perfmon, form);
    return form;
  };
  addEventListener("hashchange", show);
  const linked = show();
  if (linked) linked.scrollIntoView();
  else answer(perfmon, document.getElementById("encode"));
  document.getElementById("state").textContent = `${perfmon.pmus().length} PMUs are ready.`;
}

main().catch((error) => {
  document.getElementById("state").textContent = `The tables cannot be loaded: ${error.message}`;
});
