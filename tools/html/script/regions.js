/* SPDX-License-Identifier: MIT */
/* Regions as a recording: a region is a function, its own counts are the weights of its samples. */

/* The path of a region from the outermost one; regions of a cycle end it. */
function regionPath(row, parents) {
	const path = [row.region], seen = new Set(path);
	for (let at = row.parent; at && !seen.has(at); at = parents.get(at)) {
		path.unshift(at);
		seen.add(at);
	}
	return path;
}

/* Counts of a row: [event, unit, own count]. */
function regionCounts(row, clocks) {
	const counts = [["wall time", "nanoseconds", row.wall_ns.exclusive]];
	for (const c of row.counts)
		counts.push([c.event, clocks.has(c.event) ? "nanoseconds" : "count", c.exclusive]);
	return counts.filter(([, , value]) => value > 0);
}

function regionThreads(rows) {
	const list = rows.filter((r) => r.region && r.thread !== "all");
	return list.length ? list : rows.filter((r) => r.region);
}

/* The rows of pfm stat --regions=json as a recording (page_data.c). */
function makeRegionRecording(rows) {
	const heads = rows.filter((r) => r.events), list = regionThreads(rows);
	const parents = new Map(list.map((r) => [r.region, r.parent]));
	const clocks = new Set(heads.flatMap((h) => h.events).filter((e) => e.unit === "msec")
		.map((e) => e.event));
	const program = new Map(heads.map((h) => [h.process, h.program]));
	const r = {
		side: OLD, functions: [], events: [], threads: [], losses: "",
		nodes: { n: 1, up: [], function: [] },
		samples: { n: 0, time: [], weight: [], node: [], thread: [], cpu: [], event: [], line: [] },
	};
	const maps = { func: new Map(), node: new Map(), event: new Map(), thread: new Map() };
	for (const row of list) {
		let node = 0;
		for (const name of regionPath(row, parents)) {
			const func = numberOf(maps.func, r.functions, name, () => [name, "region"]);
			let child = maps.node.get(node + "/" + func);
			if (child === undefined) {
				child = r.nodes.n++;
				r.nodes.up.push(child - node);
				r.nodes.function.push(func);
				maps.node.set(node + "/" + func, child);
			}
			node = child;
		}
		const thread = numberOf(maps.thread, r.threads, row.process + "/" + row.thread,
			() => [row.process, row.thread, program.get(row.process) || "process"]);
		for (const [name, unit, value] of regionCounts(row, clocks)) {
			const event = numberOf(maps.event, r.events, name, () => ({ name, unit }));
			const sample = { time: 0, weight: value, node, thread, cpu: 0, event, line: 0 };
			for (const key of Object.keys(sample)) r.samples[key].push(sample[key]);
			r.samples.n++;
		}
	}
	const qualities = new Set(list.flatMap((row) => row.counts).map((c) => c.quality));
	r.about = `${r.functions.length} regions in ${r.threads.length} ` +
		`thread${r.threads.length === 1 ? "" : "s"}; counts are ` +
		`${[...qualities].join(", ") || "of wall time"}`;
	return r;
}
