"use strict";
// The state of the page is the hash of its address, so that each filtered view is a link.
(() => {
  const form = document.getElementById("filters");
  const views = [...document.querySelectorAll("[data-view]")];
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

  const state = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

  function go(next) {
    const given = Object.entries(next).filter(([, value]) => value);
    location.hash = new URLSearchParams(given).toString();
  }

  function matches(element, wanted) {
    return wanted.every(([name, value]) => !(name in element.dataset) || element.dataset[name] === value);
  }

  function show() {
    const now = state();
    const view = views.some((one) => one.dataset.view === now.view) ? now.view : views[0]?.dataset.view;
    const names = form ? [...form.elements].filter((one) => one.name).map((one) => one.name) : [];
    const wanted = names.filter((name) => now[name]).map((name) => [name, now[name]]);
    for (const one of views) one.hidden = one.dataset.view !== view;
    for (const link of all("nav a")) {
      const target = new URLSearchParams(link.hash.slice(1));
      if (target.get("view") === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (form) for (const name of names) form.elements[name].value = now[name] ?? "";
    for (const one of all(names.map((name) => `[data-${name}]`).join(",") || "none")) one.hidden = !matches(one, wanted);
    for (const table of all("section.table, table.heat")) {
      const rows = all("tbody tr[data-language], tbody tr[data-model], tbody tr[data-task]", table);
      if (rows.length && matches(table, wanted)) table.hidden = rows.every((row) => row.hidden);
    }
    report(views.find((one) => !one.hidden), wanted);
  }

  function report(view, wanted) {
    const rows = view ? all("tbody tr", view).filter((row) => !row.hidden && !row.closest("[hidden]")) : [];
    const nothing = document.getElementById("nothing");
    if (nothing) nothing.hidden = rows.length > 0 || !wanted.length;
    const status = document.getElementById("status");
    if (status) status.textContent = wanted.length ? `${rows.length} rows match` : "";
  }

  function sortable(table) {
    all("thead th[scope=col]:not(.chart)", table).forEach((head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head));
    });
  }

  function sort(table, head) {
    const at = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => {
      const cell = row.children[at];
      return cell?.dataset.key === undefined ? cell?.textContent ?? "" : Number(cell.dataset.key);
    };
    const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    for (const body of table.tBodies) {
      const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
      body.append(...rows);
    }
  }

  function theme() {
    const button = document.getElementById("theme");
    if (!button) return;
    const root = document.documentElement;
    const stored = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
    const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
    if (stored === "dark" || stored === "light") root.dataset.theme = stored;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* private windows keep nothing */ }
      label();
    });
    button.hidden = false;
    label();
  }

  theme();
  all("table.sortable").forEach(sortable);
  if (form) {
    form.hidden = false;
    form.addEventListener("change", (event) => go({ ...state(), [event.target.name]: event.target.value }));
    form.addEventListener("reset", (event) => { event.preventDefault(); go({ view: state().view }); });
  }
  for (const link of all("nav a")) {
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
  show();
})();
