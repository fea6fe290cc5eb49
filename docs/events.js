/* SPDX-License-Identifier: MIT */
/* Events of all processors: a search over all of them, a page for each processor and each family of events, and two processors side by
 * side. What is shown follows from the part of the address behind '#', so that it can be kept and sent. */
(function () {
	"use strict";
	var STEP = 200; /* rows shown at a time */
	var view = document.getElementById("view"), box = document.getElementById("search"), status = document.getElementById("status");
	var processors = null, all = null, loaded = {}, waiting = {}, byName = {};

	/* ---- data: scripts that call these ---- */

	window.perfmon = {
		index: function (rows) {
			processors = rows.map(function (r, i) { return { name: r[0], desc: r[1], n: r[2], owner: r[3], aka: r[4], number: i }; });
			processors.forEach(function (p) {
				byName[p.name] = p;
				p.aka.split(" ").forEach(function (a) { byName[a] = byName[a] || p; });
			});
			show();
		},
		all: function (rows) {
			all = rows.map(function (r) { return { name: r[0], desc: r[1], where: r[2], text: (r[0] + " " + r[1]).toLowerCase() }; });
		},
		processor: function (top, tables) { loaded[top] = tables; }
	};

	function load(file, then) {
		if (waiting[file]) {
			waiting[file].push(then);
			return;
		}
		waiting[file] = [then];
		say("Loading …");
		var script = document.createElement("script");
		script.src = "events/" + file + ".js";
		script.onload = function () { waiting[file].splice(0).forEach(function (f) { f(); }); };
		script.onerror = function () { say("events/" + file + ".js cannot be read."); };
		document.head.appendChild(script);
	}

	function withAll(then) {
		if (all)
			then();
		else
			load("all", then);
	}

	function withTable(p, then) {
		var top = processors[p.owner].name;
		if (loaded[top])
			then(loaded[top][p.name]);
		else
			load("p/" + top, function () { then(loaded[top][p.name]); });
	}

	/* ---- small things ---- */

	/* A word as it stands, or with '-' and '_' left out of whole parts of a name: "l2rqsts" is L2_RQSTS, "hitm" is not in hit_miss. */
	function has(word) {
		word = word.toLowerCase();
		var parts = /^\w+$/.test(word) && new RegExp("(^|[^a-z0-9])" + word.replace(/_/g, "").split("").join("[-_]?") + "($|[^a-z0-9])");
		return function (text) { return text.indexOf(word) >= 0 || (parts && parts.test(text)); };
	}

	/* What is asked for, and how the makers of processors write it: no word of one is in the names of the others. */
	var IDEAS = [
		[/^(hitm|snoops?|xsnp|dirty|modified)$/, /hitm\b|xsnp_fwd|(near|far|remote)_cache|another core had the line modified|cache of another core/],
		[/^(llc|longlat\w*|l3|last)$/, /longest_lat|l3_(cache_)?miss|llc|last level|\bl3 (data )?cache/],
		[/^(mispred\w*|misp|brmisp\w*)$/, /misp|mispredict|br_mis_pred|brn_misp/],
		[/^(walks?|pagewalks?|dtlb|itlb)$/, /walk|table walk|tlb_(miss|refill|walk)/]
	];

	function say(text) {
		status.textContent = text;
	}

	function count(n, one) {
		return n.toLocaleString("en") + " " + one + (n === 1 ? "" : "s");
	}

	function make(tag, text, attributes) {
		var e = document.createElement(tag);
		if (text !== undefined && text !== null)
			e.textContent = text;
		Object.keys(attributes || {}).forEach(function (k) { e.setAttribute(k, attributes[k]); });
		return e;
	}

	function add(parent) {
		for (var i = 1; i < arguments.length; i++)
			parent.appendChild(typeof arguments[i] === "string" ? document.createTextNode(arguments[i]) : arguments[i]);
		return parent;
	}

	function link(text, route) {
		return make("a", text, { href: "#/" + route.map(encodeURIComponent).join("/") });
	}

	function family(name) {
		return name.split(/[.:]/)[0];
	}

	/* A heading that is told when the page changes, and the title of the window. */
	function head(text, lead) {
		var h = make("h1", text, { tabindex: "-1", "class": "title" });
		view.textContent = "";
		add(view, h);
		if (lead)
			add(view, make("p", lead, { "class": "lead" }));
		document.title = text + " - perfmon";
		return h;
	}

	/* A table whose rows are made when they are wanted. */
	function table(heads, rows, cells) {
		var t = make("table", null, { "class": "events" }), body = make("tbody"), line = make("tr"), shown = 0;
		heads.forEach(function (h) { add(line, make("th", h, { scope: "col" })); });
		add(t, add(make("thead"), line), body);
		function more() {
			rows.slice(shown, shown + STEP).forEach(function (r) {
				var tr = make("tr");
				cells(r).forEach(function (c, i) {
					add(tr, add(make(i ? "td" : "th", null, i ? { "data-head": heads[i] } : { scope: "row" }), c || ""));
				});
				add(body, tr);
			});
			shown = Math.min(rows.length, shown + STEP);
			button.hidden = shown >= rows.length;
			button.textContent = "Show " + Math.min(STEP, rows.length - shown) + " more of " + (rows.length - shown);
		}
		var button = make("button", "", { type: "button" });
		button.addEventListener("click", more);
		more();
		add(view, t, button);
	}

	function flags(letters) {
		var words = { d: "deprecated", e: "experimental", a: "counted alone" };
		return letters.split("").map(function (l) { return words[l]; }).join(", ");
	}

	/* ---- views ---- */

	/* Linux's own events first, the founding families last. */
	function rank(p) {
		return /^(Generic|Software)/.test(p.desc) ? 0 : /^(Alpha|Itanium|Intel Core Solo)/.test(p.desc) ? 2 : 1;
	}

	function start() {
		var tops = processors.filter(function (p) { return p.owner === p.number; });
		tops.sort(function (a, b) { return rank(a) - rank(b) || a.number - b.number; });
		head("Events of every processor", "By processor, by family of names, or by words.");
		say(count(tops.length, "processor"));
		table(["processor", "what it is", "events", "other PMUs"], tops, function (p) {
			var units = processors.filter(function (u) { return u.owner === p.number && u !== p; });
			var n = units.reduce(function (sum, u) { return sum + u.n; }, p.n);
			return [link(p.name, ["p", p.name]), p.desc, n.toLocaleString("en"), units.length ? String(units.length) : ""];
		});
	}

	function processor(name) {
		var p = byName[name];
		if (!p)
			return missing("No processor is called " + name + ".");
		withTable(p, function (rows) {
			var units = processors.filter(function (u) { return u.owner === p.owner && u !== p; }), nav = make("nav", null, { "aria-label": "PMUs" });
			head(p.name, p.desc);
			add(nav, link("Compare with …", ["compare", p.name]));
			units.forEach(function (u) { add(nav, " · ", link(u.name, ["p", u.name])); });
			add(view, nav);
			say(count(rows.length, "event"));
			table(["event", "what it counts", "event select", "counters", "remarks"], rows, function (r) {
				return [link(r[0], ["f", family(r[0])]), r[1], r[2], r[3], flags(r[4])];
			});
		});
	}

	function places(numbers) {
		var span = make("span");
		numbers.forEach(function (n, i) { add(span, i ? " " : "", link(processors[n].name, ["p", processors[n].name])); });
		return span;
	}

	function found(rows) {
		table(["event", "what it counts", "processors"], rows, function (r) {
			return [link(r.name, ["f", family(r.name)]), r.desc, places(r.where)];
		});
	}

	function familyOf(name) {
		withAll(function () {
			var rows = all.filter(function (r) { return family(r.name) === name; });
			head(name, "A family of events: names that begin so, on every processor that has one.");
			say(count(rows.length, "event"));
			found(rows);
		});
	}

	function search(text) {
		withAll(function () {
			var only = [], words = [];
			text.trim().split(/\s+/).forEach(function (w) {
				if (byName[w.toLowerCase()])
					only.push(byName[w.toLowerCase()].owner);
				else
					words.push(w.toLowerCase());
			});
			var tests = words.map(has), rows = [], others = [];
			var ideas = IDEAS.filter(function (i) { return words.length && words.every(function (w) { return i[0].test(w); }); });
			all.forEach(function (r) {
				var mine = tests.every(function (t) { return t(r.text); });
				if (!mine && !ideas.some(function (i) { return i[1].test(r.text); }))
					return;
				var where = only.length ? r.where.filter(function (n) { return only.indexOf(processors[n].owner) >= 0; }) : r.where;
				if (where.length)
					(mine ? rows : others).push({ name: r.name, desc: r.desc, where: where });
			});
			/* Names that have every word come before descriptions, short names first. */
			rows.forEach(function (r) {
				var name = r.name.toLowerCase();
				r.rank = (tests.every(function (t) { return t(name); }) ? 0 : 1000) + name.length;
			});
			rows.sort(function (a, b) { return a.rank - b.rank; });
			/* Of processors that have none by these words. */
			var answered = {};
			rows.forEach(function (r) { r.where.forEach(function (n) { answered[processors[n].owner] = true; }); });
			others = others.filter(function (r) { return !r.where.some(function (n) { return answered[processors[n].owner]; }); });
			head("“" + text + "”");
			say(rows.length ? count(rows.length, "event") : "Nothing has these words in its name and description.");
			if (rows.length)
				found(rows);
			if (others.length) {
				add(view, make("h2", "In other makers’ words"), make("p", count(others.length, "event") + " for the same matter."));
				found(others);
			}
		});
	}

	function choose(label, chosen, then) {
		var id = "choose-" + label, select = make("select", null, { id: id });
		processors.forEach(function (p) {
			var o = make("option", p.name + ", " + p.desc, { value: p.name });
			o.selected = p.name === chosen;
			add(select, o);
		});
		select.addEventListener("change", function () { then(select.value); });
		return add(make("p"), make("label", label + " ", { "for": id }), select);
	}

	function compare(a, b) {
		a = byName[a] ? byName[a].name : "skx";
		b = byName[b] ? byName[b].name : "icx";
		withTable(byName[a], function (left) {
			withTable(byName[b], function (right) {
				var mine = {}, theirs = {}, rows = [];
				left.forEach(function (r) { mine[r[0]] = r; });
				right.forEach(function (r) { theirs[r[0]] = r; });
				left.forEach(function (r) {
					var other = theirs[r[0]];
					if (!other)
						rows.push([r[0], r[1], r[2], "-", "only " + a]);
					else if (other[2] !== r[2] || other[3] !== r[3])
						rows.push([r[0], r[1], r[2] + " on " + r[3], other[2] + " on " + other[3], "differs"]);
				});
				right.forEach(function (r) {
					if (!mine[r[0]])
						rows.push([r[0], r[1], "-", r[2], "only " + b]);
				});
				head(a + " and " + b, "What one has and the other has not, and what goes by one name with another event select or other counters.");
				add(view, choose("First", a, function (v) { go(["compare", v, b]); }), choose("Second", b, function (v) { go(["compare", a, v]); }));
				say(count(rows.length, "difference") + "; " + left.length + " and " + right.length + " events");
				table(["event", "what it counts", a, b, "where"], rows, function (r) {
					return [link(r[0], ["f", family(r[0])]), r[1], r[2], r[3], r[4]];
				});
			});
		});
	}

	function missing(text) {
		head("Not here", text);
		say("");
	}

	/* ---- addresses ---- */

	function go(route) {
		location.hash = "#/" + route.map(encodeURIComponent).join("/");
	}

	/* Whoever writes an address by hand may write one that is none. */
	function plain(part) {
		try {
			return decodeURIComponent(part);
		} catch (e) {
			return part;
		}
	}

	function show() {
		if (!processors)
			return;
		var route = location.hash.replace(/^#\/?/, "").split("/").map(plain), first = view.firstChild;
		if (location.hash === "#main")
			return;
		if (route[0] === "s" && box.value !== route[1])
			box.value = route[1];
		({ p: processor, f: familyOf, s: search, compare: compare }[route[0]] || start)(route[1], route[2]);
		/* Whoever follows a link hears where it led; whoever types goes on typing. */
		if (first && document.activeElement !== box && view.firstChild.tagName === "H1")
			view.firstChild.focus();
	}

	var typing;
	box.addEventListener("input", function () {
		clearTimeout(typing);
		typing = setTimeout(function () {
			history.replaceState(null, "", box.value.trim() ? "#/s/" + encodeURIComponent(box.value.trim()) : "#/");
			show();
		}, 150);
	});
	box.form.addEventListener("submit", function (e) { e.preventDefault(); });
	box.addEventListener("focus", function () { withAll(function () { show(); }); }, { once: true });
	window.addEventListener("hashchange", show);
	document.addEventListener("keydown", function (e) {
		if (e.key === "/" && document.activeElement !== box && !e.ctrlKey && !e.metaKey && !e.altKey) {
			e.preventDefault();
			box.focus();
		}
	});
})();
