// Interaction of the report page: tooltips, linked tokens, switches for settings and runs, choices of layer and head,
// sorting, light and dark. Everything shown is already in the page; this only shows and hides it.
"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");

  // ---- tooltip -------------------------------------------------------------------------------------------------
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.classList.add("on");
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, x + 14), window.innerWidth - box.width - 4);
    const above = y - box.height - 12;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (above > 4 ? above : y + 18) + "px";
  }
  function hideTip() { tip.classList.remove("on"); }

  // Titles become labels: the browser's own slow tooltip would stand beside ours.
  for (const title of all("svg.fig title")) {
    const mark = title.parentNode;
    mark.setAttribute("aria-label", title.textContent);
    mark.dataset.tip = title.textContent;
    title.remove();
  }

  // ---- matrices ------------------------------------------------------------------------------------------------
  const matrices = new Map(data.matrices.map((m) => [m.id, m]));
  async function valuesOf(matrix) {
    if (matrix.values) return matrix.values;
    const packed = Uint8Array.from(atob(matrix.packed), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const values = new Float64Array(matrix.rows * matrix.cols);
    let at = 0;
    for (let r = 0; r < matrix.rows; r++) {
      for (let c = matrix.symmetric ? r : 0; c < matrix.cols; c++, at++) {
        const step = bytes[2 * at] | (bytes[2 * at + 1] << 8);
        const value = step === 65535 ? NaN : matrix.lo + (step / data.steps) * (matrix.hi - matrix.lo);
        values[r * matrix.cols + c] = value;
        if (matrix.symmetric) values[c * matrix.cols + r] = value;
      }
    }
    matrix.values = values;
    return values;
  }
  const tokenName = (figure, token) => (data.tokens[figure] && data.tokens[figure][token]) || "token " + (token + 1);
  const figureOf = (node) => { const f = node.closest("figure"); return f ? f.id : ""; };

  function cellAt(group, event) {
    const matrix = matrices.get(group.dataset.matrix);
    const frame = group.querySelector(".frame").getBoundingClientRect();
    const col = Math.floor(((event.clientX - frame.left) / frame.width) * matrix.cols);
    const row = Math.floor(((event.clientY - frame.top) / frame.height) * matrix.rows);
    if (row < 0 || col < 0 || row >= matrix.rows || col >= matrix.cols) return null;
    return { matrix, row, col };
  }
  const number = (v) => (Number.isFinite(v) ? v.toFixed(3).replace("-", "−") : "n/a");

  // The two tokens a cell stands for, -1 where it stands for none.
  function tokensOf(matrix, row, col) {
    const h = matrix.tileRows, w = matrix.tileCols;
    if (h > 0) {
      return [matrix.tileTokens[Math.floor(row / h) * w + Math.floor(col / w)], matrix.tileTokens[(row % h) * w + (col % w)]];
    }
    return [matrix.rowTokens.length ? matrix.rowTokens[row] : -1, matrix.colTokens.length ? matrix.colTokens[col] : -1];
  }

  async function hoverMatrix(group, event) {
    const cell = cellAt(group, event);
    if (!cell) return leave();
    const { matrix, row, col } = cell;
    const x = event.clientX, y = event.clientY;
    let value = NaN;
    try { value = (await valuesOf(matrix))[row * matrix.cols + col]; } catch (e) { value = NaN; }
    const id = figureOf(group);
    const [rowToken, colToken] = tokensOf(matrix, row, col);
    const names = rowToken >= 0 && colToken >= 0 ? tokenName(id, rowToken) + " · " + tokenName(id, colToken)
      : "row " + (row + 1) + ", column " + (col + 1);
    if (value === value) showTip(names + ": " + number(value), x, y); else hideTip();
    light(rowToken, id);
  }

  // ---- linked tokens -------------------------------------------------------------------------------------------
  let lit = -1;
  const marksOf = new Map();
  for (const mark of all("svg.fig [data-token]")) {
    const token = mark.dataset.token;
    if (!marksOf.has(token)) marksOf.set(token, []);
    marksOf.get(token).push(mark);
  }
  const crossed = all("svg.fig [data-matrix]").map((group) => ({
    group, matrix: matrices.get(group.dataset.matrix), row: group.querySelector(".hl-row"), col: group.querySelector(".hl-col"),
    frame: group.querySelector(".frame")
  })).filter((c) => c.matrix && c.row && c.frame);

  function light(token) {
    if (token === lit) return;
    if (lit >= 0) for (const mark of marksOf.get(String(lit)) || []) mark.classList.remove("lit");
    for (const c of crossed) { c.row.classList.remove("on"); if (c.col) c.col.classList.remove("on"); }
    lit = token;
    if (token < 0) return;
    for (const mark of marksOf.get(String(token)) || []) mark.classList.add("lit");
    for (const c of crossed) {
      const x = +c.frame.getAttribute("x"), y = +c.frame.getAttribute("y");
      const w = +c.frame.getAttribute("width"), h = +c.frame.getAttribute("height");
      const r = c.matrix.rowTokens.indexOf(token), k = c.matrix.colTokens.indexOf(token);
      if (r >= 0) {
        c.row.setAttribute("x", x); c.row.setAttribute("width", w);
        c.row.setAttribute("y", y + (r * h) / c.matrix.rows); c.row.setAttribute("height", h / c.matrix.rows);
        c.row.classList.add("on");
      }
      if (k >= 0 && c.col) {
        c.col.setAttribute("y", y); c.col.setAttribute("height", h);
        c.col.setAttribute("x", x + (k * w) / c.matrix.cols); c.col.setAttribute("width", w / c.matrix.cols);
        c.col.classList.add("on");
      }
    }
  }
  function leave() { hideTip(); light(-1); }

  document.addEventListener("pointermove", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target) return;
    walked = null;
    const group = target.closest("svg.fig [data-matrix]");
    if (group) { hoverMatrix(group, event); return; }
    const mark = target.closest("svg.fig [data-tip]");
    if (!mark) { leave(); return; }
    showTip(mark.dataset.tip, event.clientX, event.clientY);
    light(mark.dataset.token === undefined ? -1 : +mark.dataset.token);
  });
  document.addEventListener("pointerleave", leave);
  let walked = null;  // the mark that the keyboard stands on; its tooltip moves with it
  function showMark(mark) {
    const box = mark.getBoundingClientRect();
    showTip(mark.dataset.tip, box.left + box.width / 2, box.top);
    light(mark.dataset.token === undefined ? -1 : +mark.dataset.token);
  }
  document.addEventListener("scroll", () => { if (walked) showMark(walked); else leave(); }, { passive: true });

  // ---- keyboard: one stop per panel, arrows walk its marks -------------------------------------------------------
  for (const svg of all("figure svg.fig")) {
    const marks = all("[data-tip][data-value],[data-tip][data-token]", svg);
    if (marks.length === 0) continue;
    svg.setAttribute("tabindex", "0");
    let at = -1;
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { at = -1; walked = null; leave(); return; }
      if (event.key === "Home") at = -1; else if (!step) return;
      event.preventDefault();
      const visible = marks.filter((m) => !m.classList.contains("off"));
      if (visible.length === 0) return;
      at = (at + (step || 1) + visible.length) % visible.length;
      walked = visible[at];
      showMark(walked);
      announce(walked.dataset.tip);
    });
    svg.addEventListener("blur", () => { walked = null; leave(); });
  }
  const live = document.getElementById("live");
  function announce(text) { live.textContent = text; }

  // ---- settings and runs on and off ------------------------------------------------------------------------------
  const hiddenGroups = new Set(), hiddenRuns = new Set();
  function applyHidden() {
    for (const mark of all("svg.fig [data-group],svg.fig [data-run]")) {
      const off = (mark.dataset.group !== undefined && hiddenGroups.has(mark.dataset.group)) ||
        (mark.dataset.run !== undefined && hiddenRuns.has(mark.dataset.run));
      mark.classList.toggle("off", off);
    }
    for (const button of all("button[data-toggle-group]")) {
      button.setAttribute("aria-pressed", String(!hiddenGroups.has(button.dataset.toggleGroup)));
    }
  }
  function flip(set, key) { if (set.has(key)) set.delete(key); else set.add(key); applyHidden(); }
  for (const button of all("button[data-toggle-group]")) {
    button.addEventListener("click", () => flip(hiddenGroups, button.dataset.toggleGroup));
  }
  for (const box of all("input[data-toggle-run]")) {
    box.addEventListener("change", () => flip(hiddenRuns, box.dataset.toggleRun));
  }
  const reset = document.getElementById("show-all");
  if (reset) reset.addEventListener("click", () => {
    hiddenGroups.clear(); hiddenRuns.clear();
    for (const box of all("input[data-toggle-run]")) box.checked = true;
    applyHidden();
  });

  // ---- layer, head, run of a figure ------------------------------------------------------------------------------
  for (const figure of all("figure")) {
    const selects = all("select[data-choice]", figure);
    if (selects.length === 0) continue;
    const variants = all(".variant", figure);
    const pick = (changed) => {
      const wanted = selects.map((s) => s.value);
      const keys = (v) => JSON.parse(v.dataset.choices);
      const exact = variants.find((v) => keys(v).every((k, i) => k === wanted[i]));
      const index = selects.indexOf(changed);
      const near = exact || variants.find((v) => index >= 0 && keys(v)[index] === wanted[index]) || variants[0];
      keys(near).forEach((k, i) => { selects[i].value = k; });
      for (const v of variants) v.classList.toggle("off", v !== near);
    };
    for (const select of selects) select.addEventListener("change", () => pick(select));
  }

  // ---- sorting ---------------------------------------------------------------------------------------------------
  for (const table of all("table.sortable")) {
    const heads = all("thead th", table), body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = (row) => row.cells[column].dataset.sort;
        const text = (row) => row.cells[column].textContent;
        const rows = Array.from(body.rows).map((row, i) => ({ row, i, n: key(row) === undefined ? NaN : Number(key(row)) }));
        rows.sort((a, b) => {
          const an = Number.isNaN(a.n), bn = Number.isNaN(b.n);
          if (!an && !bn && a.n !== b.n) return up ? a.n - b.n : b.n - a.n;
          if (an !== bn) return an ? 1 : -1;  // values that are missing stay last
          const order = an ? text(a.row).localeCompare(text(b.row), undefined, { numeric: true }) : 0;
          return order !== 0 ? (up ? order : -order) : a.i - b.i;
        });
        for (const r of rows) body.append(r.row);
      });
    });
  }

  // ---- light and dark --------------------------------------------------------------------------------------------
  const toggle = document.getElementById("theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : prefersDark.matches;
  const relabel = () => { toggle.textContent = isDark() ? "Light" : "Dark"; };
  toggle.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    relabel();
  });
  prefersDark.addEventListener("change", relabel);
  relabel();

  // A link to a run opens what it is folded into.
  function reveal() {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();

  // Print with every run's details open.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all("details.config:not([open])");
    for (const d of closed) d.open = true;
  });
  window.addEventListener("afterprint", () => { for (const d of closed) d.open = false; });
})();
