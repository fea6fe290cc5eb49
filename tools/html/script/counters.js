/* SPDX-License-Identifier: MIT */
/* Counts over time: of the events of a recording, and of the intervals of pfm stat -I. */

/* Counts of intervals: { label, unit, isMetric, quality, from, to, value }; times are
 * microseconds, arrays in the order of time. */
const series = [];

function nameOfRow(row) {
	const place = ["cpu", "core", "die", "socket", "node", "thread", "cgroup"]
		.filter((k) => row[k] !== undefined).map((k) => `${k} ${row[k]}`).join(" ");
	return (row.metric || row.event) + (place ? ", " + place : "");
}

/* The rows of pfm stat -I --json. A row without a value was not counted. */
function joinIntervals() {
	const map = new Map();
	for (const row of data.intervals) {
		const label = nameOfRow(row), key = label + "\n" + row.pmu;
		const s = series[numberOf(map, series, key, () => ({
			label, unit: row.unit || "", isMetric: row.metric !== undefined, qualities: new Set(),
			from: [], to: [], value: [],
		}))];
		const to = 1e6 * row.time;
		s.qualities.add(row.quality);
		if (typeof row.value !== "number") continue;
		s.from.push(s.to.length ? s.to[s.to.length - 1] : Math.max(0, to - 1e6 * (row.elapsed || 0)));
		s.to.push(to);
		s.value.push(row.value);
		span = Math.max(span, to);
	}
}

/* The metrics of equal parts of the time, of pfm record -M; null where samples are few. */
function joinSlices(slices) {
	slices.forEach((slice, i) => slice.metrics.forEach((m, k) => {
		const s = series[k] = series[k] || {
			label: m.metric, unit: m.unit || "", isMetric: true, qualities: new Set(),
			from: [], to: [], value: [],
		};
		if (typeof m.value !== "number") return;
		s.from.push(span * i / slices.length);
		s.to.push(span * (i + 1) / slices.length);
		s.value.push(m.value);
	}));
}

function shortNumber(value) {
	for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
		if (Math.abs(value) >= unit) return (value / unit).toPrecision(3) + " " + name;
	return value ? value.toPrecision(3) : "0";
}

/* Time on CPUs, of a clock in nanoseconds each second, is a number of CPUs. */
function showRate(value, isClock) {
	return isClock ? (value / 1e9).toFixed(2) + " CPUs" : shortNumber(value) + "/s";
}

function showMetric(value, s) {
	return shortNumber(value) + (s.unit === "/s" ? "/s" : " " + s.unit);
}

function isClockSeries(s) {
	return s.unit === "msec";
}

function seriesBins(s, n) {
	const bins = new Float64Array(n);
	s.value.forEach((value, i) => {
		const last = Math.min(n, Math.ceil(n * s.to[i] / (span + 1)));
		const rate = s.isMetric ? value : value / Math.max(1e-6, (s.to[i] - s.from[i]) / 1e6);
		for (let b = binOf(s.from[i], n); b < last; b++) bins[b] = rate;
	});
	return bins;
}

function eventBins(event, n) {
	const bins = new Float64Array(n), seconds = (span + 1) / n / 1e6;
	for (let i = 0; i < samples.n; i++)
		if (samples.event[i] === event &&
			(state.lane === null || samples[laneKey()][i] === state.lane))
			bins[binOf(samples.time[i], n)] += samples.weight[i] / seconds;
	return bins;
}

/* Rows that the timeline draws below its lanes: { label, bins, show }. */
function makeCounters(n) {
	const rows = series.map((s) => ({
		label: s.label, bins: seriesBins(s, n),
		show: (v) => (s.isMetric ? showMetric(v, s) : showRate(v, isClockSeries(s))),
	}));
	if (data.intervals) return rows;
	if (isDiff || data.regions) return [];
	return [...events.map((label, event) => ({
		label, bins: eventBins(event, n), show: (v) => showRate(v, units[event] === "nanoseconds"),
	})).filter((c) => c.bins.some((b) => b > 0)), ...rows];
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Values of the intervals that end in the selected time. */
function selectedValues(s) {
	const list = [];
	s.value.forEach((value, i) => {
		if (isInTime((s.from[i] + s.to[i]) / 2))
			list.push({ value, seconds: (s.to[i] - s.from[i]) / 1e6 });
	});
	return list;
}

function seriesCells(s) {
	const list = selectedValues(s), seconds = list.reduce((n, v) => n + v.seconds, 0);
	const rates = list.map((v) => (s.isMetric ? v.value : v.value / Math.max(v.seconds, 1e-6)));
	const sum = list.reduce((n, v) => n + v.value * (s.isMetric ? v.seconds : 1), 0);
	const show = (v) => (s.isMetric ? showMetric(v, s) : showRate(v, isClockSeries(s)));
	const total = isClockSeries(s) ? (sum / 1e6).toFixed(3) + " ms" : sum.toLocaleString("en");
	if (!list.length) return [s.label, "", "", "", "", [...s.qualities].join(", ")];
	return [s.label, s.isMetric ? "" : total, show(sum / Math.max(seconds, 1e-6)),
		show(rates.reduce((a, b) => Math.min(a, b))), show(rates.reduce((a, b) => Math.max(a, b))),
		[...s.qualities].join(", ")];
}

/* Sums of each event of a recording in the selection. */
function eventCells(event) {
	let sum = 0, n = 0;
	for (let i = 0; i < samples.n; i++)
		if (samples.event[i] === event && isInTime(samples.time[i]) &&
			(state.lane === null || samples[laneKey()][i] === state.lane)) {
			sum += samples.weight[i];
			n++;
		}
	const seconds = (Math.min(state.to, span) - state.from) / 1e6;
	return [events[event], formatWeight(sum, event),
		seconds > 0 ? showRate(sum / seconds, units[event] === "nanoseconds") : "",
		n.toLocaleString("en")];
}

/* A metric of a recording: its mean over the selected time, of all threads and CPUs. */
function metricCells(s) {
	const [label, , mean] = seriesCells(s);
	return [label, "", mean, ""];
}

function drawCounterTable() {
	const titles = data.intervals
		? ["event or metric", "sum", "mean", "lowest", "highest", "quality"]
		: ["event or metric", "sum", "mean", "samples"];
	const rows = data.intervals ? series.map(seriesCells)
		: [...events.map((_, i) => eventCells(i)), ...series.map(metricCells)];
	$("counter-columns").replaceChildren(...titles.map((t, i) =>
		element("th", { scope: "col", class: i ? "number" : "text" }, t)));
	$("counter-rows").replaceChildren(...rows.map((cells) => {
		const tr = element("tr");
		tr.append(...cells.map((text, i) => element("td", { class: i ? "number" : "text" }, text)));
		return tr;
	}));
}
