/* SPDX-License-Identifier: MIT */
/* The page of pfm report --html and pfm diff --html: recordings as stacks, functions and times.
 * Everything that is shown is added up again from the samples that the filters leave. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const OLD = 0, NEW = 1;
const isDiff = data.recordings.some((r) => r.side === NEW);
const MIN_SHARE = 0.0008; /* of the width: narrower boxes are left out */
const ROW_HEIGHT = 20, LANE_HEIGHT = 22, LABEL_WIDTH = 190;
const $ = (id) => document.getElementById(id);

/* ---- one tree of functions from the stacks of all recordings -------------------------------- */

const functions = []; /* { name, object } */
const nodes = { parent: [-1], func: [-1] }; /* node 0 is the root; parents come first */
const samples = { time: [], weight: [], node: [], thread: [], cpu: [], event: [], run: [] };
const threads = []; /* { name, pid, tid } */
const events = []; /* names */
const units = [];
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

function joinRecordings() {
	const functionMap = new Map(), threadMap = new Map(), eventMap = new Map();
	const childMap = new Map();
	const child = (parent, func) => {
		const key = parent * 1e8 + func;
		let n = childMap.get(key);
		if (n === undefined) {
			n = nodes.parent.length;
			nodes.parent.push(parent);
			nodes.func.push(func);
			childMap.set(key, n);
		}
		return n;
	};
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
		const at = new Int32Array(r.parents.length);
		for (let i = 1; i < r.parents.length; i++) {
			at[i] = at[r.parents[i]];
			for (const f of r.locations[r.places[i]]) at[i] = child(at[i], own[f]);
		}
		let time = 0;
		for (let i = 0; i < r.samples.time.length; i++) {
			time += r.samples.time[i];
			samples.time.push(time);
			samples.weight.push(r.samples.weight[i]);
			samples.node.push(at[r.samples.stack[i]]);
			samples.thread.push(tasks[r.samples.thread[i]]);
			samples.cpu.push(r.samples.cpu[i]);
			samples.event.push(kinds[r.samples.event[i]]);
			samples.run.push(run);
		}
		span = Math.max(span, time);
	});
}

/* ---- what is selected ------------------------------------------------------------------------ */

const state = {
	event: 0, from: 0, to: Infinity, lanes: "threads", lane: null, view: "flame",
	inverted: false, zoom: 0, search: "", sort: "self", descending: true,
};

function isSelected(i) {
	if (samples.event[i] !== state.event) return false;
	if (samples.time[i] < state.from || samples.time[i] > state.to) return false;
	return state.lane === null || samples[laneKey()][i] === state.lane;
}

function laneKey() {
	return state.lanes === "threads" ? "thread" : "cpu";
}

/* Weights and samples of each node and side, its own and with its callees. */
function addUp() {
	const n = nodes.parent.length;
	const sums = {
		self: [new Float64Array(n), new Float64Array(n)],
		total: [new Float64Array(n), new Float64Array(n)],
		samples: [new Uint32Array(n), new Uint32Array(n)], count: [0, 0],
	};
	for (let i = 0; i < samples.time.length; i++) {
		if (!isSelected(i)) continue;
		const side = data.recordings[samples.run[i]].side;
		sums.self[side][samples.node[i]] += samples.weight[i];
		sums.samples[side][samples.node[i]]++;
		sums.count[side]++;
	}
	for (const side of [OLD, NEW]) {
		sums.total[side].set(sums.self[side]);
		for (let i = n - 1; i > 0; i--)
			sums.total[side][nodes.parent[i]] += sums.total[side][i];
	}
	return sums;
}

/* A tree to draw: { func, self: [old, new], total: [old, new], children: Map }. */
function makeBox(func, parent) {
	return { func, parent, self: [0, 0], total: [0, 0], children: new Map() };
}

function childBox(box, func) {
	let c = box.children.get(func);
	if (!c) {
		c = makeBox(func, box);
		box.children.set(func, c);
	}
	return c;
}

function callerTree(sums) {
	const boxes = [makeBox(-1, null)];
	for (let i = 0; i < nodes.parent.length; i++) {
		if (sums.total[OLD][i] + sums.total[NEW][i] === 0) continue;
		const box = i ? childBox(boxes[nodes.parent[i]], nodes.func[i]) : boxes[0];
		boxes[i] = box;
		for (const side of [OLD, NEW]) {
			box.self[side] = sums.self[side][i];
			box.total[side] = sums.total[side][i];
		}
	}
	return boxes[0];
}

function calleeTree(sums) {
	const root = makeBox(-1, null);
	for (let i = 1; i < nodes.parent.length; i++) {
		const own = [sums.self[OLD][i], sums.self[NEW][i]];
		if (own[OLD] + own[NEW] === 0) continue;
		let box = root;
		for (let at = i; at > 0; at = nodes.parent[at]) {
			box = childBox(box, nodes.func[at]);
			for (const side of [OLD, NEW]) box.total[side] += own[side];
		}
		for (const side of [OLD, NEW]) {
			box.self[side] += own[side];
			root.total[side] += own[side];
		}
	}
	return root;
}

/* Each function once, however often a stack has it. */
function functionRows(sums) {
	const rows = functions.map((f, func) => ({
		func, self: [0, 0], total: [0, 0], samples: [0, 0],
	}));
	const seen = new Int32Array(functions.length).fill(-1);
	for (let i = 1; i < nodes.parent.length; i++)
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

/* ---- numbers --------------------------------------------------------------------------------- */

const mainSide = () => (isDiff ? NEW : OLD);
const percent = (part, all) => (all > 0 ? (100 * part / all).toFixed(2) : "0.00") + " %";

function formatWeight(weight, event) {
	if (units[event] === "nanoseconds") return (weight / 1e6).toFixed(1) + " ms";
	return Math.round(weight).toLocaleString("en");
}

function formatSeconds(microseconds) {
	return (microseconds / 1e6).toFixed(3) + " s";
}

/* The standard error of a share, in percent, of @n samples. */
function shareError(share, n) {
	return n ? 100 * Math.sqrt(share * (1 - share) / n) : 0;
}

function shares(box, all) {
	return [OLD, NEW].map((side) => (all[side] > 0 ? box.total[side] / all[side] : 0));
}

function nameOf(func) {
	return func < 0 ? "all" : functions[func].name;
}

function describe(box, all) {
	const [before, now] = shares(box, all);
	const object = box.func < 0 ? "" : " (" + functions[box.func].object + ")";
	if (isDiff)
		return `${nameOf(box.func)}${object}: ${(100 * now).toFixed(2)} % after ` +
			`${(100 * before).toFixed(2)} %`;
	return `${nameOf(box.func)}${object}: ${percent(box.total[OLD], all[OLD])}, ` +
		formatWeight(box.total[OLD], state.event);
}

/* ---- drawing --------------------------------------------------------------------------------- */

let sums, tree, flameRoot;

function element(kind, attributes, text) {
	const e = document.createElement(kind);
	for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
	if (text !== undefined) e.textContent = text;
	return e;
}

function hashHue(text) {
	let h = 0;
	for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0;
	return h;
}

function boxColour(box, all) {
	if (isDiff) {
		const [before, now] = shares(box, all);
		const strength = before + now ? Math.abs(now - before) / (now + before) : 0;
		if (!marks.has(nameOf(box.func))) return "var(--same)";
		const lightness = `calc(var(--light) - ${(30 * strength).toFixed(1)}%)`;
		return `hsl(${now > before ? 5 : 215} 75% ${lightness})`;
	}
	const h = hashHue(functions[box.func] ? functions[box.func].object : "");
	const shade = hashHue(nameOf(box.func)) % 12;
	return `hsl(${20 + h % 7 * 47} 48% calc(var(--light) - ${shade}%))`;
}

function matches(func) {
	if (!state.search || func < 0) return false;
	const f = functions[func], wanted = state.search.toLowerCase();
	return f.name.toLowerCase().includes(wanted) || f.object.toLowerCase().includes(wanted);
}

/* The width of a box: in a comparison that of the new side. */
function widthOf(box) {
	return box.total[mainSide()];
}

function drawFlame() {
	const flame = $("flame");
	const root = flameRoot || tree, all = tree.total, width = widthOf(root);
	const fragment = document.createDocumentFragment();
	let depth = 0;
	const put = (box, left, level) => {
		const share = width ? widthOf(box) / width : 0;
		if (share < MIN_SHARE || level > 400) return;
		depth = Math.max(depth, level);
		const e = element("div", {
			role: "treeitem", "aria-level": level + 1, tabindex: "-1",
			"aria-expanded": box.children.size > 0, "aria-label": describe(box, all),
			title: describe(box, all), class: "box" + (matches(box.func) ? " match" : ""),
		}, nameOf(box.func));
		e.style.left = (100 * left).toFixed(4) + "%";
		e.style.width = (100 * share).toFixed(4) + "%";
		e.style.top = level * ROW_HEIGHT + "px";
		e.style.background = box.func < 0 ? "var(--same)" : boxColour(box, all);
		e.box = box;
		fragment.append(e);
		let at = left;
		for (const c of [...box.children.values()].sort(
			(a, b) => nameOf(a.func).localeCompare(nameOf(b.func)))) {
			put(c, at, level + 1);
			at += width ? widthOf(c) / width : 0;
		}
	};
	const above = [];
	for (let b = root.parent; b; b = b.parent) above.unshift(b);
	above.forEach((b, level) => put({ ...b, children: new Map(), total: root.total, zoomTo: b },
		0, level));
	put(root, 0, above.length);
	flame.replaceChildren(fragment);
	flame.style.height = (depth + 1) * ROW_HEIGHT + "px";
	if (flame.firstElementChild) flame.firstElementChild.tabIndex = 0;
	showMatches(all);
}

/* The share of stacks that have a matching function. */
function showMatches(all) {
	let found = 0;
	const walk = (box) => {
		if (matches(box.func)) {
			found += widthOf(box);
			return;
		}
		for (const c of box.children.values()) walk(c);
	};
	if (state.search) walk(tree);
	$("matched").textContent = state.search
		? `${percent(found, all[mainSide()])} in stacks with "${state.search}"` : "";
}

const marks = new Map((data.changes || []).filter((c) => c.significant)
	.map((c) => [c.function, c]));

const columns = isDiff ? [
	["function", "function", (r) => nameOf(r.func)],
	["object", "object", (r) => functions[r.func].object],
	["change", "change of self", (r) => r.change],
	["old", "old self", (r) => r.old], ["new", "new self", (r) => r.new],
	["total", "new with callees", (r) => r.total[NEW]],
	["samples", "samples", (r) => r.samples[OLD] + r.samples[NEW]],
] : [
	["function", "function", (r) => nameOf(r.func)],
	["object", "object", (r) => functions[r.func].object],
	["self", "self", (r) => r.self[OLD]], ["error", "error", (r) => r.error],
	["total", "with callees", (r) => r.total[OLD]],
	["samples", "samples", (r) => r.samples[OLD]],
];

function cellText(row, key, all) {
	switch (key) {
	case "function": return nameOf(row.func);
	case "object": return functions[row.func].object;
	case "self": return percent(row.self[OLD], all[OLD]);
	case "error": return "± " + row.error.toFixed(2);
	case "total": return percent(row.total[mainSide()], all[mainSide()]);
	case "old": return (100 * row.old).toFixed(2) + " %";
	case "new": return (100 * row.new).toFixed(2) + " %";
	case "change": {
		const mark = marks.has(nameOf(row.func)) ? "★ " : "";
		return mark + (row.change >= 0 ? "+" : "") + (100 * row.change).toFixed(2) + " %";
	}
	default: return (row.samples[OLD] + row.samples[NEW]).toLocaleString("en");
	}
}

const ROWS_SHOWN = 500;

function drawTable() {
	const all = tree.total, rows = functionRows(sums);
	for (const r of rows) {
		r.old = all[OLD] ? r.self[OLD] / all[OLD] : 0;
		r.new = all[NEW] ? r.self[NEW] / all[NEW] : 0;
		r.change = r.new - r.old;
		r.error = shareError(r.old, sums.count[OLD]);
	}
	const column = columns.find((c) => c[0] === state.sort) || columns[2];
	const key = column[0] === "change" ? (r) => Math.abs(r.change) : column[2];
	rows.sort((a, b) => {
		const x = key(a), y = key(b);
		const order = typeof x === "string" ? x.localeCompare(y) : x - y;
		return state.descending ? -order : order;
	});
	const shown = rows.filter((r) => !state.search || matches(r.func)).slice(0, ROWS_SHOWN);
	const body = document.createDocumentFragment();
	for (const r of shown) {
		const tr = element("tr", { tabindex: "0" });
		for (const [name] of columns)
			tr.append(element("td", { class: name === "function" || name === "object"
				? "text" : "number" }, cellText(r, name, all)));
		tr.func = r.func;
		body.append(tr);
	}
	$("rows").replaceChildren(body);
	$("more").textContent = rows.length > shown.length
		? `${rows.length - shown.length} more functions` : "";
	for (const th of $("columns").children)
		th.setAttribute("aria-sort", th.dataset.key !== column[0] ? "none"
			: state.descending ? "descending" : "ascending");
}

function drawHeads() {
	for (const [key, title] of columns) {
		const th = element("th", { scope: "col", "data-key": key });
		th.append(element("button", { type: "button" }, title));
		$("columns").append(th);
	}
}

/* A row of the call tree; children are added when it is opened. */
function treeRow(box, level, all) {
	const row = element("div", {
		role: "treeitem", "aria-level": level, tabindex: "-1", class: "branch",
		"aria-label": describe(box, all),
	});
	if (box.children.size) row.setAttribute("aria-expanded", "false");
	row.style.paddingLeft = (level - 1) * 16 + "px";
	row.append(element("span", { class: "arrow", "aria-hidden": "true" },
		box.children.size ? "▸" : " "));
	row.append(element("span", { class: "number" },
		percent(box.total[mainSide()], all[mainSide()])));
	row.append(element("span", { class: "number" },
		percent(box.self[mainSide()], all[mainSide()])));
	row.append(element("span", { class: "name" + (matches(box.func) ? " match" : "") },
		nameOf(box.func)));
	row.append(element("span", { class: "object" }, functions[box.func].object));
	row.box = box;
	row.level = level;
	return row;
}

function childRows(box, level, all) {
	return [...box.children.values()].filter((c) => widthOf(c) > 0)
		.sort((a, b) => widthOf(b) - widthOf(a)).map((c) => treeRow(c, level, all));
}

function openRow(row) {
	if (row.getAttribute("aria-expanded") !== "false") return;
	row.setAttribute("aria-expanded", "true");
	row.querySelector(".arrow").textContent = "▾";
	row.after(...childRows(row.box, row.level + 1, tree.total));
}

function closeRow(row) {
	if (row.getAttribute("aria-expanded") !== "true") return;
	row.setAttribute("aria-expanded", "false");
	row.querySelector(".arrow").textContent = "▸";
	while (row.nextElementSibling && row.nextElementSibling.level > row.level)
		row.nextElementSibling.remove();
}

function drawCallTree() {
	$("calltree").replaceChildren(...childRows(tree, 1, tree.total));
	/* The heaviest path is open, down to where it divides. */
	for (let row = $("calltree").firstElementChild, i = 0; row && i < 40; i++) {
		if (i === 0) row.tabIndex = 0;
		const box = row.box;
		openRow(row);
		row = row.nextElementSibling;
		if (!row || row.level <= box.level || widthOf(row.box) < 0.9 * widthOf(box)) break;
	}
}

/* ---- the timeline ---------------------------------------------------------------------------- */

/* Lanes, the heaviest first: { key, label, bins }. */
function makeLanes(n) {
	const lanes = new Map(), key = laneKey();
	for (let i = 0; i < samples.time.length; i++) {
		if (samples.event[i] !== state.event) continue;
		const at = samples[key][i];
		let lane = lanes.get(at);
		if (!lane) {
			lane = { key: at, bins: new Float64Array(n), sum: 0 };
			lanes.set(at, lane);
		}
		lane.bins[Math.min(n - 1, Math.floor(n * samples.time[i] / (span + 1)))] +=
			samples.weight[i];
		lane.sum += samples.weight[i];
	}
	return [...lanes.values()].sort((a, b) => b.sum - a.sum).slice(0, 40);
}

function laneLabel(key) {
	if (state.lanes === "cpus") return key < 0 ? "CPU unknown" : "CPU " + key;
	const t = threads[key];
	return isDiff ? t.name : `${t.name} ${t.tid}`;
}

function drawTimeline() {
	const canvas = $("timeline"), width = canvas.parentElement.clientWidth;
	const n = Math.max(50, Math.floor((width - LABEL_WIDTH) / 2)), lanes = makeLanes(n);
	const ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.body);
	canvas.lanes = lanes;
	canvas.width = width * ratio;
	canvas.height = (lanes.length * LANE_HEIGHT + 16) * ratio;
	canvas.style.height = lanes.length * LANE_HEIGHT + 16 + "px";
	const c = canvas.getContext("2d");
	c.scale(ratio, ratio);
	c.font = "12px system-ui, sans-serif";
	let most = 0;
	for (const lane of lanes) for (const b of lane.bins) most = Math.max(most, b);
	lanes.forEach((lane, row) => {
		const top = row * LANE_HEIGHT, dim = state.lane !== null && state.lane !== lane.key;
		c.globalAlpha = dim ? 0.35 : 1;
		c.fillStyle = style.getPropertyValue("--text");
		c.fillText(laneLabel(lane.key), 4, top + 15, LABEL_WIDTH - 8);
		c.fillStyle = style.getPropertyValue("--bar");
		lane.bins.forEach((b, i) => {
			const h = most ? Math.sqrt(b / most) * (LANE_HEIGHT - 4) : 0;
			if (h) c.fillRect(LABEL_WIDTH + 2 * i, top + LANE_HEIGHT - h, 1.6, h);
		});
	});
	c.globalAlpha = 1;
	const scale = 2 * n / (span + 1), bottom = lanes.length * LANE_HEIGHT;
	if (state.to !== Infinity) {
		c.fillStyle = style.getPropertyValue("--selection");
		c.fillRect(LABEL_WIDTH + state.from * scale, 0,
			Math.max(1, (state.to - state.from) * scale), bottom);
	}
	c.fillStyle = style.getPropertyValue("--text");
	c.fillText("0 s", LABEL_WIDTH, bottom + 13);
	c.textAlign = "right";
	c.fillText(formatSeconds(span), LABEL_WIDTH + 2 * n, bottom + 13);
	canvas.scaleOfTime = scale;
	const text = `Timeline of ${lanes.length} ${state.lanes}, ${formatSeconds(span)}. ` +
		`Selected: ${selectionText()}. Left and right move the selection, shift extends it.`;
	canvas.setAttribute("aria-label", text);
}

function selectionText() {
	const time = state.to === Infinity ? "all of the time"
		: `${formatSeconds(state.from)} to ${formatSeconds(state.to)}`;
	return state.lane === null ? time : `${time}, ${laneLabel(state.lane)}`;
}

function selectTime(from, to) {
	state.from = Math.max(0, Math.min(from, to));
	state.to = Math.min(span, Math.max(from, to));
	update();
}

function clearSelection() {
	state.from = 0;
	state.to = Infinity;
	state.lane = null;
	update();
}

function watchTimeline() {
	const canvas = $("timeline");
	let begin = null;
	const place = (e) => {
		const box = canvas.getBoundingClientRect();
		return {
			time: (e.clientX - box.left - LABEL_WIDTH) / canvas.scaleOfTime,
			lane: canvas.lanes[Math.floor((e.clientY - box.top) / LANE_HEIGHT)],
			isLabel: e.clientX - box.left < LABEL_WIDTH,
		};
	};
	canvas.addEventListener("pointerdown", (e) => {
		const at = place(e);
		if (at.isLabel && at.lane) {
			state.lane = state.lane === at.lane.key ? null : at.lane.key;
			update();
			return;
		}
		begin = at.time;
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", (e) => {
		if (begin === null) return;
		state.from = Math.max(0, Math.min(begin, place(e).time));
		state.to = Math.min(span, Math.max(begin, place(e).time));
		drawTimeline();
	});
	canvas.addEventListener("pointerup", (e) => {
		if (begin === null) return;
		const from = begin;
		begin = null;
		if (Math.abs(place(e).time - from) * canvas.scaleOfTime < 3) clearSelection();
		else selectTime(from, place(e).time);
	});
	canvas.addEventListener("keydown", (e) => {
		const step = span / 20, sign = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		if (e.key === "ArrowUp" || e.key === "ArrowDown") {
			const at = canvas.lanes.findIndex((l) => l.key === state.lane);
			const next = canvas.lanes[at + (e.key === "ArrowDown" ? 1 : -1)];
			state.lane = next ? next.key : null;
			update();
		} else if (sign && state.to === Infinity) {
			selectTime(sign > 0 ? 0 : span - step, sign > 0 ? step : span);
		} else if (sign) {
			const length = state.to - state.from;
			const to = Math.min(span, Math.max(step, state.to + sign * step));
			selectTime(e.shiftKey ? state.from : Math.max(0, to - length), to);
		} else {
			return;
		}
		e.preventDefault();
	});
}

/* ---- everything together --------------------------------------------------------------------- */

function update() {
	sums = addUp();
	tree = state.inverted ? calleeTree(sums) : callerTree(sums);
	flameRoot = null;
	const all = sums.count[OLD] + sums.count[NEW];
	$("selection").textContent = `${all.toLocaleString("en")} samples of ${selectionText()}`;
	$("clear").hidden = state.to === Infinity && state.lane === null;
	drawTimeline();
	drawView();
}

function drawView() {
	for (const name of ["flame", "table", "tree"]) {
		const isShown = state.view === name;
		$("panel-" + name).hidden = !isShown;
		$("tab-" + name).setAttribute("aria-selected", isShown);
		$("tab-" + name).tabIndex = isShown ? 0 : -1;
	}
	if (state.view === "flame") drawFlame();
	else if (state.view === "table") drawTable();
	else drawCallTree();
	if (state.view !== "flame") showMatches(tree.total);
}

function zoomTo(box) {
	flameRoot = box.zoomTo || box;
	if (!flameRoot.parent) flameRoot = null;
	drawFlame();
	const item = [...$("flame").children].find((e) => e.box === (flameRoot || tree));
	if (item) focusItem($("flame"), item);
}

/* One item of a tree can be reached by Tab, the others by arrows. */
function focusItem(list, item) {
	const last = list.querySelector('[tabindex="0"]');
	if (last) last.tabIndex = -1;
	item.tabIndex = 0;
	item.focus();
}

/* Up and down are callers and callees, left and right are neighbours. */
function moveInFlame(item, key) {
	const items = [...$("flame").children], box = item.box;
	if (key === "ArrowDown") return items.find((e) => e.box.parent === box && e !== item);
	if (key === "ArrowUp")
		return items.find((e) => e.box === box.parent || e.box.zoomTo === box.parent);
	const level = items.filter((e) => e.style.top === item.style.top);
	return level[level.indexOf(item) + (key === "ArrowRight" ? 1 : -1)];
}

function watchFlame() {
	const flame = $("flame");
	flame.addEventListener("click", (e) => e.target.box && zoomTo(e.target.box));
	flame.addEventListener("keydown", (e) => {
		const item = e.target;
		if (!item.box) return;
		if (e.key === "Enter" || e.key === " ") zoomTo(item.box);
		else if (e.key.startsWith("Arrow")) {
			const next = moveInFlame(item, e.key);
			if (next) focusItem(flame, next);
		} else return;
		e.preventDefault();
	});
}

function watchCallTree() {
	const list = $("calltree");
	const toggle = (row) => (row.getAttribute("aria-expanded") === "true" ? closeRow(row)
		: openRow(row));
	list.addEventListener("click", (e) => {
		const row = e.target.closest(".branch");
		if (!row) return;
		toggle(row);
		focusItem(list, row);
	});
	list.addEventListener("keydown", (e) => {
		const row = e.target.closest(".branch");
		if (!row) return;
		if (e.key === "ArrowDown" && row.nextElementSibling)
			focusItem(list, row.nextElementSibling);
		else if (e.key === "ArrowUp" && row.previousElementSibling)
			focusItem(list, row.previousElementSibling);
		else if (e.key === "ArrowRight") openRow(row);
		else if (e.key === "ArrowLeft") closeRow(row);
		else if (e.key === "Enter") toggle(row);
		else return;
		e.preventDefault();
	});
}

function watchTable() {
	$("columns").addEventListener("click", (e) => {
		const th = e.target.closest("th");
		if (!th) return;
		state.descending = state.sort === th.dataset.key ? !state.descending
			: !["function", "object"].includes(th.dataset.key);
		state.sort = th.dataset.key;
		drawTable();
	});
	const choose = (e) => {
		const tr = e.target.closest("tr");
		if (!tr || tr.func === undefined) return;
		$("search").value = state.search = functions[tr.func].name;
		state.view = "flame";
		drawView();
		$("tab-flame").focus();
	};
	$("rows").addEventListener("click", choose);
	$("rows").addEventListener("keydown", (e) => e.key === "Enter" && choose(e));
}

function watchTabs() {
	const names = ["flame", "table", "tree"];
	for (const name of names)
		$("tab-" + name).addEventListener("click", () => {
			state.view = name;
			drawView();
		});
	$("tabs").addEventListener("keydown", (e) => {
		const sign = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		if (!sign) return;
		state.view = names[(names.indexOf(state.view) + sign + 3) % 3];
		drawView();
		$("tab-" + state.view).focus();
		e.preventDefault();
	});
}

function watchControls() {
	$("event").addEventListener("change", (e) => {
		state.event = Number(e.target.value);
		update();
	});
	$("lanes").addEventListener("change", (e) => {
		state.lanes = e.target.value;
		state.lane = null;
		update();
	});
	$("search").addEventListener("input", (e) => {
		state.search = e.target.value;
		drawView();
	});
	$("inverted").addEventListener("change", (e) => {
		state.inverted = e.target.checked;
		update();
	});
	$("clear").addEventListener("click", clearSelection);
	$("theme").addEventListener("click", () => {
		const dark = document.documentElement.dataset.theme === "dark" ||
			(!document.documentElement.dataset.theme &&
				matchMedia("(prefers-color-scheme: dark)").matches);
		document.documentElement.dataset.theme = dark ? "light" : "dark";
		drawTimeline();
	});
	document.addEventListener("keydown", (e) => {
		if (e.key === "/" && e.target.tagName !== "INPUT") {
			$("search").focus();
			e.preventDefault();
		} else if (e.key === "Escape") {
			$("search").value = state.search = "";
			clearSelection();
		}
	});
	window.addEventListener("resize", drawTimeline);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimeline);
}

function showHead() {
	for (const side of [OLD, NEW]) {
		const list = data.recordings.filter((r) => r.side === side);
		const prefix = isDiff ? (side === NEW ? "new: " : "old: ") : "";
		const n = list.reduce((sum, r) => sum + r.samples.time.length, 0);
		if (!list.length) continue;
		$("about").append(element("li", {}, prefix + (list.length === 1 ? list[0].about
			: `${list.length} recordings, ${n.toLocaleString("en")} samples`)));
		for (const r of list)
			if (r.losses)
				$("about").append(element("li", { class: "loss" },
					prefix + r.losses));
	}
	if (isDiff)
		$("about").append(element("li", {}, "Boxes are as wide as in the new recordings. " +
			"Red functions grew significantly, blue ones fell."));
	for (const note of data.notes || []) $("about").append(element("li", {}, note));
	events.forEach((name, i) => $("event").append(element("option", { value: i }, name)));
	$("event").disabled = events.length < 2;
}

joinRecordings();
if (isDiff) state.sort = "change";
showHead();
drawHeads();
watchTimeline();
watchFlame();
watchCallTree();
watchTable();
watchTabs();
watchControls();
/* The event with most samples is shown first. */
state.event = events.map((_, i) => samples.event.reduce((n, e) => n + (e === i), 0))
	.reduce((best, n, i, all) => (n > all[best] ? i : best), 0);
$("event").value = String(state.event);
update();
