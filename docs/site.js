/* SPDX-License-Identifier: MIT */
/* A filter box over the entries of a page: events of a processor, pages of the index. Everything it needs is on the page. */
(function () {
	"use strict";
	var place = document.querySelector("[data-filter]");
	if (!place)
		return;
	var entries = [], sections = [];

	function add(nodes, section) {
		var text = nodes.map(function (n) { return n.textContent; }).join(" ");
		entries.push({ nodes: nodes, section: section, text: fold(text) });
	}
	/* As event names are compared: without regard to case, blanks kept, '-' and '_' left out. */
	function fold(s) {
		return s.toLowerCase().replace(/[-_]/g, "").replace(/\s+/g, " ");
	}
	document.querySelectorAll(".events > dl, .list, .cards").forEach(function (list) {
		var section = { list: list, head: list.closest("section") };
		sections.push(section);
		if (list.tagName === "DL") {
			/* A description may be missing, and two names may share one. */
			var group = [], described = false;
			Array.prototype.forEach.call(list.children, function (n) {
				if (n.tagName === "DT" && described) {
					add(group, section);
					group = [];
					described = false;
				}
				described = described || n.tagName === "DD";
				group.push(n);
			});
			if (group.length)
				add(group, section);
		} else {
			Array.prototype.forEach.call(list.children, function (n) { add([n], section); });
		}
	});

	var bar = document.createElement("div"), box = document.createElement("input"), count = document.createElement("output");
	bar.className = "filter";
	box.type = "search";
	box.placeholder = place.getAttribute("data-filter") + " (press /)";
	box.setAttribute("aria-label", place.getAttribute("data-filter"));
	bar.appendChild(box);
	bar.appendChild(count);
	place.appendChild(bar);

	function apply() {
		var words = fold(box.value).split(" ").filter(Boolean), shown = 0;
		sections.forEach(function (s) { s.shown = 0; });
		entries.forEach(function (e) {
			var hit = words.every(function (w) { return e.text.indexOf(w) >= 0; });
			e.nodes.forEach(function (n) { n.hidden = !hit; });
			shown += hit;
			e.section.shown += hit;
		});
		sections.forEach(function (s) {
			if (s.head && s.head.hasAttribute("data-fold"))
				s.head.hidden = !s.shown;
		});
		count.textContent = shown === entries.length ? entries.length + " entries" : shown + " of " + entries.length;
		if (history.replaceState)
			history.replaceState(null, "", location.pathname + (box.value ? "?q=" + encodeURIComponent(box.value) : "") + location.hash);
	}
	box.addEventListener("input", apply);
	document.addEventListener("keydown", function (e) {
		if (e.key === "/" && document.activeElement !== box && !e.ctrlKey && !e.metaKey) {
			e.preventDefault();
			box.focus();
		} else if (e.key === "Escape" && document.activeElement === box) {
			box.value = "";
			apply();
		}
	});
	var asked = /[?&]q=([^&]*)/.exec(location.search);
	if (asked)
		box.value = decodeURIComponent(asked[1].replace(/\+/g, " "));
	apply();
	if (asked && !location.hash)
		place.scrollIntoView();
	if (location.hash) {
		var at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (at)
			at.scrollIntoView();
	}
})();
