/* SPDX-License-Identifier: MIT */
/* Times: a row for each count, then a lane for each thread or CPU. */

/* ---- what is drawn --------------------------------------------------------------------------- */

const COUNTER_HEIGHT = 44;

function binOf(time, n) {
	return Math.min(n - 1, Math.floor(n * time / (span + 1)));
}

/* Lanes, the heaviest first: { key, bins, sum }. */
function makeLanes(n) {
	const lanes = new Map(), keys = samples[laneKey()];
	for (let i = 0; i < samples.n; i++) {
		if (samples.event[i] !== state.event) continue;
		let lane = lanes.get(keys[i]);
		if (!lane) {
			lane = { key: keys[i], bins: new Float64Array(n), sum: 0 };
			lanes.set(keys[i], lane);
		}
		lane.bins[binOf(samples.time[i], n)] += samples.weight[i];
		lane.sum += samples.weight[i];
	}
	return [...lanes.values()].sort((a, b) => b.sum - a.sum).slice(0, 40);
}

function laneLabel(key) {
	if (state.lanes === "cpus") return key < 0 ? "CPU unknown" : "CPU " + key;
	const t = threads[key];
	return isDiff ? t.name : `${t.name} ${t.tid}`;
}

/* ---- drawing --------------------------------------------------------------------------------- */

function drawLanes(c, lanes, from, style) {
	let most = 0;
	for (const lane of lanes) for (const b of lane.bins) most = Math.max(most, b);
	lanes.forEach((lane, row) => {
		const top = from + row * LANE_HEIGHT, dim = state.lane !== null && state.lane !== lane.key;
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
}

/* Each count has a scale of its own, whose highest value stands below its name. */
function drawCounters(c, counters, style) {
	counters.forEach((counter, row) => {
		const y = row * COUNTER_HEIGHT, bottom = y + COUNTER_HEIGHT - 4;
		const most = counter.bins.reduce((a, b) => (b > a ? b : a), 0);
		c.fillStyle = style.getPropertyValue("--text");
		c.fillText(counter.label, 4, y + 17, LABEL_WIDTH - 8);
		c.fillStyle = style.getPropertyValue("--quiet");
		c.fillText("up to " + counter.show(most), 4, y + 33, LABEL_WIDTH - 8);
		c.fillStyle = style.getPropertyValue("--counter");
		counter.bins.forEach((b, i) => {
			const h = most > 0 && b > 0 ? b / most * (COUNTER_HEIGHT - 8) : 0;
			if (h) c.fillRect(LABEL_WIDTH + 2 * i, bottom - h, 2, h);
		});
		c.fillStyle = style.getPropertyValue("--line");
		c.fillRect(LABEL_WIDTH, bottom, 2 * counter.bins.length, 1);
	});
}

function drawAxis(c, n, bottom, style) {
	const scale = 2 * n / (span + 1);
	if (state.to !== Infinity) {
		c.fillStyle = style.getPropertyValue("--selection");
		c.fillRect(LABEL_WIDTH + state.from * scale, 0,
			Math.max(1, (state.to - state.from) * scale), bottom);
	}
	c.fillStyle = style.getPropertyValue("--quiet");
	for (let i = 0; i <= 4; i++) {
		c.textAlign = i === 0 ? "left" : i === 4 ? "right" : "center";
		c.fillText(i ? formatSeconds(span * i / 4) : "0 s", LABEL_WIDTH + n * i / 2, bottom + 13);
	}
	return scale;
}

function drawTimeline() {
	const canvas = $("timeline"), width = canvas.parentElement.clientWidth;
	const n = Math.max(50, Math.floor((width - LABEL_WIDTH) / 2));
	const lanes = makeLanes(n), counters = makeCounters(n);
	const top = counters.length * COUNTER_HEIGHT, bottom = top + lanes.length * LANE_HEIGHT;
	const ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.body);
	canvas.lanes = lanes;
	canvas.topOfLanes = top;
	canvas.width = width * ratio;
	canvas.height = (bottom + 16) * ratio;
	canvas.style.height = bottom + 16 + "px";
	const c = canvas.getContext("2d");
	c.scale(ratio, ratio);
	c.font = "12px system-ui, sans-serif";
	drawLanes(c, lanes, top, style);
	drawCounters(c, counters, style);
	canvas.scaleOfTime = drawAxis(c, n, bottom, style);
	const what = lanes.length ? `${lanes.length} ${state.lanes}` : `${counters.length} counts`;
	canvas.setAttribute("aria-label", `Timeline of ${what}, ${formatSeconds(span)}. ` +
		`Selected: ${selectionText()}. Left and right move the selection, shift extends it.`);
}

/* ---- the selection --------------------------------------------------------------------------- */

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
			lane: canvas.lanes[Math.floor((e.clientY - box.top - canvas.topOfLanes) / LANE_HEIGHT)],
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

