/* SPDX-License-Identifier: MIT */
/* Source text beside the instructions of the hottest functions. */

/* Weights of each row of function @code in the selected samples. */
function addUpRows(code) {
	const rows = new Float64Array(codeLength(code));
	for (let i = 0; i < samples.n; i++) {
		const row = samples.line[i] - 1 - code.first;
		if (row >= 0 && row < rows.length && samples.run[i] === code.run && isSelected(i))
			rows[row] += samples.weight[i];
	}
	return rows;
}

/* Rows of function @code, those that are left out included. */
function codeLength(code) {
	return code.rows.reduce((n, r) => n + (typeof r === "number" ? r : 1), 0);
}

/* The rows as [{ source: [...], code: [...] }]: lines of source text and the instructions after
 * them, which stand beside each other. Members: { text, label, row }. */
function groupRows(code) {
	const groups = [];
	let row = 0, last = null;
	for (const r of code.rows) {
		if (typeof r === "number") {
			groups.push({ source: [], code: [], gap: r });
			row += r;
			last = null;
			continue;
		}
		const [text, label] = r, isSource = typeof label === "number";
		if (!last || (isSource && last.code.length)) {
			last = { source: [], code: [] };
			groups.push(last);
		}
		/* The line with the function's name has no number. */
		if (!isSource || label)
			last[isSource ? "source" : "code"].push({ text, label, row });
		row++;
	}
	return groups;
}

function heatOf(share) {
	return share > 0 ? `rgb(230 90 30 / ${Math.min(60, 8 + 400 * share).toFixed(0)}%)` : "";
}

function codeCells(tr, part, share) {
	const shown = part ? part.label : "";
	const td = element("td", { class: "number" }, share > 0 ? (100 * share).toFixed(2) : "");
	td.style.background = heatOf(share);
	tr.append(td, element("td", { class: "number quiet" },
		typeof shown === "string" ? shown.replace(/^0x/, "") : shown),
	element("td", { class: "code" }, part ? part.text : ""));
}

function drawGroup(body, group, weights, all) {
	if (group.gap) {
		const tr = element("tr", { class: "quiet" });
		tr.append(element("td", { colspan: 6 }, `… ${group.gap} rows without samples`));
		body.append(tr);
		return;
	}
	const sum = group.code.reduce((n, c) => n + weights[c.row], 0);
	for (let i = 0; i < Math.max(group.source.length, group.code.length); i++) {
		const tr = element("tr"), code = group.code[i];
		const isLine = i === group.source.length - 1;
		codeCells(tr, group.source[i], isLine && all ? sum / all : 0);
		codeCells(tr, code, code && all ? weights[code.row] / all : 0);
		body.append(tr);
	}
}

/* The source lines with samples, the heaviest first. */
function drawHotLines(code, weights, all) {
	const lines = new Map();
	for (const [row, file, line] of code.sources) {
		const key = file + ":" + line;
		lines.set(key, (lines.get(key) || 0) + weights[row]);
	}
	const list = [...lines].filter(([, w]) => w > 0).sort((a, b) => b[1] - a[1]).slice(0, 10);
	$("hot-lines").replaceChildren(...list.map(([key, w]) => {
		const li = element("li");
		li.append(element("span", { class: "number" }, percent(w, all)), " " + key);
		return li;
	}));
}

function drawSource() {
	const code = codes[state.code];
	if (!code) {
		$("source-note").textContent = data.regions ? "" : "No code is shown: no function with " +
			"a symbol has 1 % of the samples of its event, or objdump was missing.";
		return;
	}
	const weights = addUpRows(code), sum = weights.reduce((a, b) => a + b, 0);
	const all = tree.total[data.recordings[code.run].side];
	const body = document.createDocumentFragment();
	$("source-note").textContent = `${percent(sum, all)} of the selected samples are in ` +
		`${nameOf(code.func)} of ${functions[code.func].object}. Shares below are of the ` +
		"function. A sample is often at the instruction after the one that took the time.";
	for (const group of groupRows(code)) drawGroup(body, group, weights, sum);
	$("code-rows").replaceChildren(body);
	drawHotLines(code, weights, sum);
}

function watchSource() {
	$("code").append(...codes.map((c, i) => element("option", { value: i },
		`${nameOf(c.func)} (${functions[c.func].object})` +
		(isDiff ? (data.recordings[c.run].side === NEW ? ", new" : ", old") : ""))));
	$("code").disabled = codes.length < 2;
	$("code").addEventListener("change", (e) => {
		state.code = Number(e.target.value);
		drawSource();
	});
}
