/* SPDX-License-Identifier: MIT */
/* Numbers as text, and the flame graph. */

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

/* Does each function match the search? */
let matching = new Uint8Array(0);

function findMatches() {
	const wanted = state.search.toLowerCase();
	matching = Uint8Array.from(functions, (f) => wanted !== "" &&
		(f.name.toLowerCase().includes(wanted) || f.object.toLowerCase().includes(wanted)));
}

function matches(func) {
	return func >= 0 && matching[func] === 1;
}

function byName(a, b) {
	const x = nameOf(a.func), y = nameOf(b.func);
	return x < y ? -1 : x > y ? 1 : 0;
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
			"aria-expanded": box.children.length > 0, "aria-label": describe(box, all),
			title: describe(box, all), class: "box" + (matches(box.func) ? " match" : ""),
		}, share * flame.clientWidth < LEAST_LABEL ? "" : nameOf(box.func));
		e.style.left = (100 * left).toFixed(4) + "%";
		e.style.width = (100 * share).toFixed(4) + "%";
		e.style.top = level * ROW_HEIGHT + "px";
		e.style.background = box.func < 0 ? "var(--same)" : boxColour(box, all);
		e.box = box;
		fragment.append(e);
		let at = left;
		for (const c of [...box.children].sort(byName)) {
			put(c, at, level + 1);
			at += width ? widthOf(c) / width : 0;
		}
	};
	const above = [];
	for (let b = root.parent; b; b = b.parent) above.unshift(b);
	above.forEach((b, level) => put({ ...b, children: [], total: root.total, zoomTo: b },
		0, level));
	put(root, 0, above.length);
	flame.replaceChildren(fragment);
	flame.style.height = (depth + 1) * ROW_HEIGHT + "px";
	if (flame.firstElementChild) flame.firstElementChild.tabIndex = 0;
	showMatches(all);
}

/* The share of stacks that have a matching function. */
function showMatches(all) {
	const hit = new Uint8Array(nodes.n);
	let found = 0;
	for (let i = 1; state.search && i < nodes.n; i++) {
		hit[i] = hit[nodes.parent[i]] || matching[nodes.func[i]];
		if (hit[i]) found += sums.self[mainSide()][i];
	}
	$("matched").textContent = state.search
		? `${percent(found, all[mainSide()])} in stacks with "${state.search}"` : "";
}
