"use strict";
// The state of the page is the hash of its address, so that each filtered view is a link.
(() => {
  const ABOUT = ["task", "language", "family", "model"];
  const form = document.getElementById("filters");
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const views = all("[data-view]");
  const fields = form ? [...form.elements].filter((one) => one.name) : [];
  const filters = fields.filter((one) => ABOUT.includes(one.name)).map((one) => one.name);
  const title = document.title;
  let before, shown;

  const state = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

  function go(next) {
    const given = Object.entries(next).filter(([, value]) => value);
    location.hash = new URLSearchParams(given).toString();
    show(); // the event comes later
  }

  function show() {
    if (shown === location.hash) return;
    shown = location.hash;
    const now = state();
    const view = views.find((one) => one.dataset.view === now.view) ?? views[0];
    for (const one of views) one.hidden = one !== view;
    for (const link of all("nav a")) mark(link, new URLSearchParams(link.hash.slice(1)).get("view") === view?.dataset.view);
    for (const field of fields) {
      if (field.type === "checkbox") field.checked = Boolean(now[field.name]);
      else field.value = [...field.options].some((one) => one.value === now[field.name]) ? now[field.name] : "";
    }
    const wanted = filters.map((name) => [name, form.elements[name].value]).filter(([, value]) => value);
    document.documentElement.classList.toggle("intervals", Boolean(now.intervals));
    filter(wanted);
    if (view) document.title = views.length > 1 ? `${view.querySelector("h2").textContent} - ${title}` : title;
    if (before !== undefined && before !== view) scrollTo(0, 0);
    before = view;
    say(view, wanted);
    offer(view);
    reachable();
  }

  function mark(link, current) {
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }

  // What is about something else is hidden; so is a table without a row or a column left.
  function filter(wanted) {
    const chosen = new Set(wanted.map(([name]) => name));
    const timely = (one) => (one.dataset.when ?? "").split(" ")
      .every((name) => !name || (name === "all" ? !chosen.has("language") : chosen.has(name)));
    const matches = (one) => timely(one)
      && wanted.every(([name, value]) => !(name in one.dataset) || one.dataset[name] === value);
    for (const one of all(["when", ...filters].map((name) => `[data-${name}]`).join(","))) one.hidden = !matches(one);
    const empty = (rows) => rows.length > 0 && rows.every((row) => row.hidden);
    for (const body of all("table.matrix tbody")) {
      const group = body.querySelector(".group");
      if (group) group.hidden = empty([...body.rows].filter((row) => row !== group));
    }
    for (const part of all("section.table").filter(matches)) {
      const columns = all("table.matrix thead th:not(:first-child)", part);
      part.hidden = empty(all("tbody tr:not(.group)", part)) || empty(columns);
    }
    for (const part of all("section.findings")) part.hidden = empty(all("li", part));
    for (const part of all("details.behind").filter(matches)) part.hidden = empty(all("section.table", part));
    for (const part of all("section.language").filter(matches)) part.hidden = empty(all(":scope > [data-task]", part));
  }

  // What can be seen has a place; rows of closed tables count as well.
  function say(view, wanted) {
    const rows = view ? all("section.table tbody tr:not(.group)", view) : [];
    const left = rows.filter((row) => !row.hidden && !row.closest("section[hidden], details[hidden]")).length;
    const nothing = document.getElementById("nothing");
    const parts = view && wanted.length ? all(filters.map((name) => `[data-${name}]`).join(","), view) : [];
    if (nothing) nothing.hidden = !parts.length || parts.some((one) => one.getClientRects().length);
    const status = document.getElementById("status");
    if (status) status.textContent = wanted.length && rows.length ? `${left} row${left === 1 ? "" : "s"}` : "";
  }

  // What would change nothing in the view is not offered.
  function offer(view) {
    for (const field of view ? fields : []) {
      const about = all(ABOUT.includes(field.name) ? `[data-${field.name}]` : ".matrix:not(.open)", view);
      const counts = (one) => ABOUT.includes(field.name) || !one.closest("details:not([open])");
      field.closest("label").hidden = !about.some(counts);
    }
    if (form) form.hidden = all("label", form).every((one) => one.hidden);
  }

  // Only boxes that scroll are stops of the tab key; the side with more to see is faded.
  function reachable() {
    for (const box of all(".wide")) {
      const left = box.scrollWidth - box.clientWidth;
      if (left > 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      box.classList.toggle("more", box.scrollLeft < left - 1);
    }
  }

  function sortable(table) {
    all("thead th[scope=col]:not(.chart)", table).filter((head) => head.textContent.trim()).forEach((head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head));
    });
  }

  // Numbers come highest first; rows of a group stay in it.
  function sort(table, head) {
    const at = [...head.parentNode.children].indexOf(head);
    const first = head.classList.contains("number") ? "descending" : "ascending";
    const other = first === "descending" ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    for (const sorted of all("th[aria-sort]", table)) sorted.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const key = (row) => {
      const cell = row.children[at];
      return cell?.dataset.key === undefined ? cell?.textContent ?? "" : Number(cell.dataset.key);
    };
    const compare = (a, b) => {
      if (typeof a === "number" && typeof b === "number") return order === "ascending" ? a - b : b - a;
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // what has no number is last
      return (order === "ascending" ? 1 : -1) * a.localeCompare(b, undefined, { numeric: true });
    };
    for (const body of table.tBodies) {
      body.append(...[...body.rows].filter((row) => !row.matches(".group")).sort((a, b) => compare(key(a), key(b))));
    }
  }

  function theme() {
    const button = document.getElementById("theme");
    if (!button) return;
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const stored = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
    const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    const label = () => { button.textContent = dark() ? "Light colours" : "Dark colours"; };
    if (stored === "dark" || stored === "light") root.dataset.theme = stored;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* private windows keep nothing */ }
      label();
    });
    system.addEventListener("change", label);
    button.hidden = false;
    label();
  }

  for (const one of all("[id^='view=']")) one.removeAttribute("id"); // links lead there only where no script runs
  theme();
  all("table.sortable").forEach(sortable);
  if (form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", ({ target }) => {
      go({ ...state(), [target.name]: target.type === "checkbox" && !target.checked ? "" : target.value });
    });
    form.addEventListener("reset", (event) => { event.preventDefault(); go({ view: state().view }); });
  }
  for (const link of all("nav a[href^='#']")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go({ ...state(), view: new URLSearchParams(link.hash.slice(1)).get("view") });
    });
  }
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault(); // the hash is the state
    document.getElementById("main").focus();
  });
  addEventListener("hashchange", show);
  addEventListener("resize", reachable);
  for (const box of all(".wide")) box.addEventListener("scroll", reachable, { passive: true });
  for (const part of all("details")) part.addEventListener("toggle", () => { reachable(); offer(before); });
  show();
})();
