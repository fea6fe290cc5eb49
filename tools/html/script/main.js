/* SPDX-License-Identifier: MIT */
/* Starts the views and connects them with mouse and keyboard. */

/* ---- everything together --------------------------------------------------------------------- */

/* The views of this page. */
const views = data.intervals ? ["counters"]
	: data.regions ? ["flame", "table", "tree"]
		: isDiff ? ["flame", "table", "tree", "source"]
			: ["flame", "table", "tree", "source", "counters"];
const drawings = {
	flame: drawFlame, table: drawTable, tree: drawCallTree, source: drawSource,
	counters: drawCounterTable,
};

function update() {
	sums = addUp();
	tree = state.inverted ? calleeTree(sums) : callerTree(sums);
	flameRoot = null;
	const all = sums.count[OLD] + sums.count[NEW];
	$("selection").textContent = data.intervals ? selectionText()
		: `${all.toLocaleString("en")} samples of ${selectionText()}`;
	$("clear").hidden = state.to === Infinity && state.lane === null;
	if (!data.regions) drawTimeline();
	drawView();
}

function drawView() {
	for (const name of views) {
		const isShown = state.view === name;
		$("panel-" + name).hidden = !isShown;
		$("tab-" + name).setAttribute("aria-selected", isShown);
		$("tab-" + name).tabIndex = isShown ? 0 : -1;
	}
	$("filters").hidden = !["flame", "table", "tree"].includes(state.view);
	drawings[state.view]();
	if (state.view !== "flame") showMatches(tree.total);
}

/* Hides what a page of counts or regions does not have. */
function hideUnused() {
	for (const name of Object.keys(drawings)) $("tab-" + name).hidden = !views.includes(name);
	if (!views.includes(state.view)) state.view = views[0];
	for (const name of Object.keys(drawings)) $("panel-" + name).hidden = name !== state.view;
	$("lane-choice").hidden = Boolean(data.intervals || data.regions);
	$("event-choice").hidden = Boolean(data.intervals);
	$("timeline").hidden = Boolean(data.regions);
	$("selection").hidden = Boolean(data.regions);
	$("tabs").hidden = views.length < 2;
	if (data.regions) {
		$("tab-table").textContent = "Regions";
		$("tab-tree").textContent = "Tree of regions";
		columns[0][1] = "region";
	}
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
		findMatches();
		const code = codes.findIndex((c) => c.func === tr.func);
		state.code = code < 0 ? state.code : code;
		$("code").value = String(state.code);
		state.view = "flame";
		drawView();
		$("tab-flame").focus();
	};
	$("rows").addEventListener("click", choose);
	$("rows").addEventListener("keydown", (e) => e.key === "Enter" && choose(e));
}

function watchTabs() {
	for (const name of views)
		$("tab-" + name).addEventListener("click", () => {
			state.view = name;
			drawView();
		});
	$("tabs").addEventListener("keydown", (e) => {
		const sign = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		if (!sign) return;
		state.view = views[(views.indexOf(state.view) + sign + views.length) % views.length];
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
		findMatches();
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
		if (!data.regions) drawTimeline();
	});
	document.addEventListener("keydown", (e) => {
		if (e.key === "/" && e.target.tagName !== "INPUT") {
			$("search").focus();
			e.preventDefault();
		} else if (e.key === "Escape") {
			$("search").value = state.search = "";
			findMatches();
			clearSelection();
		}
	});
	window.addEventListener("resize", () => data.regions || drawTimeline());
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
		() => data.regions || drawTimeline());
}

function showHead() {
	for (const side of [OLD, NEW]) {
		const list = data.recordings.filter((r) => r.side === side);
		const prefix = isDiff ? (side === NEW ? "new: " : "old: ") : "";
		const n = list.reduce((sum, r) => sum + r.samples.n, 0);
		if (!list.length) continue;
		$("about").append(element("li", {}, prefix + (list.length === 1 ? list[0].about
			: `${list.length} recordings, ${n.toLocaleString("en")} samples`)));
		if (list.length === 1 && list[0].quality)
			$("about").append(element("li", {}, prefix + "quality: " + list[0].quality));
		if (list.length === 1 && list[0].waits)
			$("about").append(element("li", {}, prefix + list[0].waits));
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

/* The event with most samples. */
function findMainEvent() {
	const counts = new Float64Array(events.length);
	for (let i = 0; i < samples.n; i++) counts[samples.event[i]]++;
	return counts.reduce((best, n, i) => (n > counts[best] ? i : best), 0);
}

joinRecordings();
if (data.intervals) joinIntervals();
else if (!isDiff) joinSlices((data.recordings[0] || {}).slices || []);
findMatches();
if (isDiff) state.sort = "change";
hideUnused();
showHead();
drawHeads();
watchTimeline();
watchFlame();
watchCallTree();
watchTable();
watchSource();
watchTabs();
watchControls();
state.event = data.regions ? 0 : findMainEvent();
$("event").value = String(state.event);
update();
