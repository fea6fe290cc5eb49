/* SPDX-License-Identifier: MIT */
/* The table of functions, and the call tree. */

/* ---- the table ------------------------------------------------------------------------------- */

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
].filter(([key]) => !data.regions || !["error", "samples"].includes(key));

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

/* ---- the call tree ---------------------------------------------------------------------------- */

/* A row of the call tree; children are added when it is opened. */
function treeRow(box, level, all) {
	const row = element("div", {
		role: "treeitem", "aria-level": level, tabindex: "-1", class: "branch",
		"aria-label": describe(box, all),
	});
	if (box.children.length) row.setAttribute("aria-expanded", "false");
	row.style.paddingLeft = (level - 1) * 16 + "px";
	row.append(element("span", { class: "arrow", "aria-hidden": "true" },
		box.children.length ? "▸" : " "));
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
	return box.children.filter((c) => widthOf(c) > 0)
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

