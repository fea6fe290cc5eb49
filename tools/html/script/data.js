/* SPDX-License-Identifier: MIT */
/* The page of pfm report --html, pfm diff --html and pfm stat --html: recordings as stacks,
 * functions and times. Everything that is shown is added up again from the samples that the filters
 * leave. The files of this folder are one script, in the order of tools/meson.build. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const OLD = 0, NEW = 1;
if (data.regions) data.recordings.push(makeRegionRecording(data.regions));
const isDiff = data.recordings.some((r) => r.side === NEW);
const MIN_SHARE = 0.0008; /* of the width: narrower boxes are left out */
const LEAST_LABEL = 26; /* pixels of a box with a name */
const ROW_HEIGHT = 20, LANE_HEIGHT = 22, LABEL_WIDTH = 190;
const $ = (id) => document.getElementById(id);

/* ---- columns of numbers ---------------------------------------------------------------------- */

/* Reads @n numbers into @to from @from on: seven bits a byte, the low ones first (packed.h), or an
 * array. */
function unpack(text, to, from, n) {
	if (typeof text !== "string") {
		to.set(text, from);
		return to;
	}
	const bytes = atob(text);
	for (let i = 0, at = 0; i < n; i++) {
		let byte = bytes.charCodeAt(at++), value = byte & 127;
		for (let unit = 128; byte > 127; unit *= 128) {
			byte = bytes.charCodeAt(at++);
			value += (byte & 127) * unit;
		}
		to[from + i] = value;
	}
	return to;
}

/* ---- one tree of functions from the stacks of all recordings -------------------------------- */

const functions = []; /* { name, object } */
/* Node 0 is the root; parents come first. first and next: lists of children; 0 ends them. */
const nodes = { n: 1 };
const samples = { n: data.recordings.reduce((n, r) => n + r.samples.n, 0) };
const threads = []; /* { name, pid, tid } */
const events = []; /* names */
const units = [];
const codes = []; /* { func, run, first, rows, sources } */
let span = 0; /* microseconds of the longest recording */

function numberOf(map, list, key, make) {
	let n = map.get(key);
	if (n === undefined) {
		n = list.length;
		list.push(make());
		map.set(key, n);
	}
	return n;
}

function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}

/* Arrays as large as all recordings together need them. */
function makeArrays() {
	const most = data.recordings.reduce((n, r) => n + r.nodes.n, 1);
	for (const name of ["parent", "func", "first", "next"]) nodes[name] = new Int32Array(most);
	nodes.func[0] = -1;
	for (const name of ["time", "weight"]) samples[name] = new Float64Array(samples.n);
	for (const name of ["node", "thread", "cpu", "event", "run", "line"])
		samples[name] = new Int32Array(samples.n);
}

/* The child of @parent with @func; @known: nodes by parent and function. */
function childNode(parent, func, known) {
	const key = parent * 2 ** 26 + func;
	let n = known.get(key);
	if (n === undefined) {
		n = nodes.n++;
		nodes.parent[n] = parent;
		nodes.func[n] = func;
		nodes.next[n] = nodes.first[parent];
		nodes.first[parent] = n;
		known.set(key, n);
	}
	return n;
}

/* The node of each node of recording @r, whose functions are @own. */
function joinNodes(r, own, known) {
	const up = unpack(r.nodes.up, new Int32Array(r.nodes.n), 1, r.nodes.n - 1);
	const func = unpack(r.nodes.function, new Int32Array(r.nodes.n), 1, r.nodes.n - 1);
	const at = new Int32Array(r.nodes.n);
	for (let i = 1; i < r.nodes.n; i++) at[i] = childNode(at[i - up[i]], own[func[i]], known);
	return at;
}

/* Fills the samples from number @from on with those of recording @r. */
function joinSamples(r, run, from, node, tasks, kinds) {
	const n = r.samples.n;
	for (const name of ["time", "weight", "node", "thread", "cpu", "event", "line"])
		unpack(r.samples[name], samples[name], from, n);
	let time = 0;
	for (let i = from; i < from + n; i++) {
		time += samples.time[i];
		samples.time[i] = time;
		samples.node[i] = node[samples.node[i]];
		samples.thread[i] = tasks[samples.thread[i]];
		samples.cpu[i]--;
		samples.event[i] = kinds[samples.event[i]];
		samples.run[i] = run;
	}
	span = Math.max(span, time);
}

function joinRecordings() {
	const functionMap = new Map(), threadMap = new Map(), eventMap = new Map();
	const known = new Map();
	let from = 0;
	makeArrays();
	data.recordings.forEach((r, run) => {
		const own = r.functions.map(([name, object]) => numberOf(
			functionMap, functions, name + "\n" + baseName(object),
			() => ({ name, object: baseName(object) })));
		const tasks = r.threads.map(([pid, tid, name]) => numberOf(
			threadMap, threads, isDiff ? name : pid + "/" + tid,
			() => ({ pid, tid, name })));
		const kinds = r.events.map((e) => numberOf(eventMap, events, e.name, () => {
			units.push(e.unit);
			return e.name;
		}));
		joinSamples(r, run, from, joinNodes(r, own, known), tasks, kinds);
		for (const c of r.code || []) codes.push({ ...c, func: own[c.function], run });
		from += r.samples.n;
	});
}

/* ---- what is selected ------------------------------------------------------------------------ */

const state = {
	event: 0, from: 0, to: Infinity, lanes: "threads", lane: null, view: "flame",
	inverted: false, search: "", sort: "self", descending: true, code: 0,
};

function isInTime(time) {
	return time >= state.from && time <= state.to;
}

function isSelected(i) {
	return samples.event[i] === state.event && isInTime(samples.time[i]) &&
		(state.lane === null || samples[laneKey()][i] === state.lane);
}

function laneKey() {
	return state.lanes === "threads" ? "thread" : "cpu";
}

/* Weights and samples of each node and side, its own and with its callees. */
function addUp() {
	const n = nodes.n, pair = (make) => [make(), make()];
	const sums = {
		self: pair(() => new Float64Array(n)), total: pair(() => new Float64Array(n)),
		samples: pair(() => new Uint32Array(n)), count: [0, 0],
	};
	for (let i = 0; i < samples.n; i++) {
		if (!isSelected(i)) continue;
		const side = data.recordings[samples.run[i]].side, node = samples.node[i];
		sums.self[side][node] += samples.weight[i];
		sums.samples[side][node]++;
		sums.count[side]++;
	}
	for (const side of [OLD, NEW]) {
		sums.total[side].set(sums.self[side]);
		for (let i = n - 1; i > 0; i--)
			sums.total[side][nodes.parent[i]] += sums.total[side][i];
	}
	return sums;
}

/* ---- trees to draw --------------------------------------------------------------------------- */

/* A box has a function, sums of both sides, and children, which are found when they are needed. */
class Box {
	constructor(func, parent, expand) {
		this.func = func;
		this.parent = parent;
		this.self = [0, 0];
		this.total = [0, 0];
		this.expand = expand;
	}

	get children() {
		if (!this.list) this.list = this.expand(this);
		return this.list;
	}
}

function callerTree(sums) {
	const make = (node, parent) => {
		const box = new Box(nodes.func[node], parent, expand);
		box.node = node;
		for (const side of [OLD, NEW]) {
			box.self[side] = sums.self[side][node];
			box.total[side] = sums.total[side][node];
		}
		return box;
	};
	const expand = (box) => {
		const list = [];
		for (let n = nodes.first[box.node]; n; n = nodes.next[n])
			if (sums.total[OLD][n] + sums.total[NEW][n] > 0) list.push(make(n, box));
		return list;
	};
	return make(0, null);
}

/* Each entry is a stack, the number of its innermost node, and the node that it has here. */
function calleeTree(sums) {
	const expand = (box) => {
		const children = new Map();
		for (const [stack, at] of box.entries) {
			if (!at) continue;
			const func = nodes.func[at], parent = nodes.parent[at];
			let c = children.get(func);
			if (!c) {
				c = new Box(func, box, expand);
				c.entries = [];
				children.set(func, c);
			}
			c.entries.push([stack, parent]);
			for (const side of [OLD, NEW]) {
				c.total[side] += sums.self[side][stack];
				if (!parent) c.self[side] += sums.self[side][stack];
			}
		}
		return [...children.values()];
	};
	const root = new Box(-1, null, expand);
	root.entries = [];
	for (let i = 1; i < nodes.n; i++)
		if (sums.self[OLD][i] + sums.self[NEW][i] > 0) root.entries.push([i, i]);
	for (const side of [OLD, NEW]) root.total[side] = sums.total[side][0];
	return root;
}

/* Each function once, however often a stack has it. */
function functionRows(sums) {
	const rows = functions.map((f, func) => ({
		func, self: [0, 0], total: [0, 0], samples: [0, 0],
	}));
	const seen = new Int32Array(functions.length).fill(-1);
	for (let i = 1; i < nodes.n; i++)
		for (const side of [OLD, NEW]) {
			if (!sums.self[side][i]) continue;
			const row = rows[nodes.func[i]], stamp = 2 * i + side;
			row.self[side] += sums.self[side][i];
			row.samples[side] += sums.samples[side][i];
			for (let at = i; at > 0; at = nodes.parent[at]) {
				if (seen[nodes.func[at]] === stamp) continue;
				seen[nodes.func[at]] = stamp;
				rows[nodes.func[at]].total[side] += sums.self[side][i];
			}
		}
	return rows.filter((r) => r.total[OLD] + r.total[NEW] > 0);
}
