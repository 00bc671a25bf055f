// Interaction of the report page: tooltips, linked tokens, switches for settings and runs, one choice of run for all figures,
// orders of matrices, networks alone, enlarged matrices, a brain that turns, finding, sorting, light and dark. Everything shown is
// already in the page; this only shows, hides and arranges it.
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

  // A matrix as it stands on the page: perhaps in another order, perhaps with the tokens of one label only.
  const shown = new Map();
  function shownMatrix(id) {
    if (!shown.has(id)) arrange(id, null);
    return shown.get(id);
  }
  // `tokens`: those of the rows and columns, in their order; null as drawn.
  function arrange(id, tokens) {
    const m = matrices.get(id);
    if (!m) return;
    const view = { source: m, rows: m.rows, cols: m.cols, rowTokens: m.rowTokens, colTokens: m.colTokens, rowAt: null, colAt: null,
      tileRows: m.tileRows, tileCols: m.tileCols, tileTokens: m.tileTokens, quantity: m.quantity };
    if (tokens && m.rowTokens.length) {
      const at = (list) => { const places = new Map(list.map((t, i) => [t, i])); return tokens.map((t) => places.get(t)); };
      view.rowTokens = view.colTokens = tokens;
      view.rowAt = at(m.rowTokens);
      view.colAt = at(m.colTokens);
      view.rows = view.cols = tokens.length;
    }
    shown.set(id, view);
  }
  const valueAt = (view, values, row, col) =>
    values[(view.rowAt ? view.rowAt[row] : row) * view.source.cols + (view.colAt ? view.colAt[col] : col)];

  const palettes = data.maps.map((hex) => Uint8Array.from({ length: 768 }, (_, i) => parseInt(hex.substr(2 * i, 2), 16)));
  // The cells from (row, col) on, `rows` x `cols` of them, as pixels.
  function pixels(view, values, row, col, rows, cols) {
    const m = view.source, palette = palettes[m.map], image = new ImageData(cols, rows);
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const v = valueAt(view, values, row + r, col + c), at = 4 * (r * cols + c);
        if (v !== v) continue;
        const k = 3 * Math.round(255 * Math.min(1, Math.max(0, (v - m.colourLo) / (m.colourHi - m.colourLo))));
        image.data[at] = palette[k]; image.data[at + 1] = palette[k + 1]; image.data[at + 2] = palette[k + 2]; image.data[at + 3] = 255;
      }
    }
    return image;
  }
  const tokenName = (figure, token) => (data.tokens[figure] && data.tokens[figure][token]) || "token " + (token + 1);
  const figureOf = (node) => { const f = node.closest("figure"); return f ? f.id : ""; };

  function cellAt(group, event) {
    const matrix = shownMatrix(group.dataset.matrix);
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
    try { value = valueAt(matrix, await valuesOf(matrix.source), row, col); } catch (e) { value = NaN; }
    const id = figureOf(group);
    const [rowToken, colToken] = tokensOf(matrix, row, col);
    const names = rowToken >= 0 && colToken >= 0 ? tokenName(id, rowToken) + " · " + tokenName(id, colToken)
      : "row " + (row + 1) + ", column " + (col + 1);
    if (value === value) showTip(names + ": " + (matrix.quantity ? matrix.quantity + " " : "") + number(value), x, y); else hideTip();
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
    group, id: group.dataset.matrix, matrix: matrices.get(group.dataset.matrix), row: group.querySelector(".hl-row"), col: group.querySelector(".hl-col"),
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
      const view = shownMatrix(c.id);
      const r = view.rowTokens.indexOf(token), k = view.colTokens.indexOf(token);
      if (r >= 0) {
        c.row.setAttribute("x", x); c.row.setAttribute("width", w);
        c.row.setAttribute("y", y + (r * h) / view.rows); c.row.setAttribute("height", h / view.rows);
        c.row.classList.add("on");
      }
      if (k >= 0 && c.col) {
        c.col.setAttribute("y", y); c.col.setAttribute("height", h);
        c.col.setAttribute("x", x + (k * w) / view.cols); c.col.setAttribute("width", w / view.cols);
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
    isolate(-1);
    if (filter) { filter.value = ""; find(); }
    for (const box of all("input[data-toggle-run]")) box.checked = true;
    applyHidden();
  });

  // ---- layer, head, run of a figure; the run is the same in all figures that have it --------------------------------
  const pickers = [];
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
      rearrange(figure);
    };
    const run = selects.find((s) => s.dataset.choice === "run");
    if (run) pickers.push({ run, pick });
    for (const select of selects) {
      select.addEventListener("change", () => { if (select === run) chooseRun(run.value); else pick(select); });
    }
  }
  const runChoice = document.querySelector("#run-choice select");
  function chooseRun(name) {
    for (const { run, pick } of pickers) {
      if (!Array.from(run.options).some((o) => o.value === name)) continue;
      run.value = name;
      pick(run);
    }
    runChoice.value = name;
  }
  {
    const names = [];
    for (const { run } of pickers) for (const o of run.options) if (!names.includes(o.value)) names.push(o.value);
    for (const name of names) { const o = document.createElement("option"); o.textContent = name; runChoice.append(o); }
    document.getElementById("run-choice").classList.toggle("off", names.length < 2);
    runChoice.addEventListener("change", () => chooseRun(runChoice.value));
  }

  // ---- the order of a figure's matrices, and one network alone -----------------------------------------------------
  let alone = -1;
  async function redraw(group) {
    const id = group.dataset.matrix, view = shown.get(id), image = group.querySelector("image");
    const values = await valuesOf(view.source);
    if (shown.get(id) !== view) return;  // arranged anew in the meantime
    const canvas = document.createElement("canvas");
    canvas.width = view.cols; canvas.height = view.rows;
    canvas.getContext("2d").putImageData(pixels(view, values, 0, 0, view.rows, view.cols), 0, 0);
    const scale = Math.max(1, Math.ceil(256 / Math.max(view.rows, view.cols)));
    const sharp = document.createElement("canvas");
    sharp.width = scale * view.cols; sharp.height = scale * view.rows;
    const pen = sharp.getContext("2d");
    pen.imageSmoothingEnabled = false;
    pen.drawImage(canvas, 0, 0, sharp.width, sharp.height);
    image.setAttribute("href", sharp.toDataURL());
    const strips = group.parentNode.querySelector("[data-strips='" + id + "']");
    const set = data.orders[view.source.orders];
    if (strips && set) drawStrips(strips, group.querySelector(".frame"), set.strips, view.rowTokens);
  }
  function drawStrips(strips, frame, classes, tokens) {
    const x = +frame.getAttribute("x"), y = +frame.getAttribute("y"), w = +frame.getAttribute("width"), h = +frame.getAttribute("height");
    strips.replaceChildren();
    const n = tokens.length, step = 7;
    classes.forEach((list, s) => {
      const offset = step * (classes.length - s);
      for (let i = 0; i < n;) {
        let end = i;
        while (end < n && list[tokens[end]] === list[tokens[i]]) end++;
        for (const rows of [true, false]) {
          const r = document.createElementNS("http://www.w3.org/2000/svg", "rect");
          r.setAttribute("class", list[tokens[i]]);
          r.setAttribute("x", rows ? x - offset : x + (i / n) * w); r.setAttribute("y", rows ? y + (i / n) * h : y - offset);
          r.setAttribute("width", rows ? step - 2 : ((end - i) / n) * w); r.setAttribute("height", rows ? ((end - i) / n) * h : step - 2);
          strips.append(r);
        }
        i = end;
      }
    });
  }
  // Draws the visible matrices of a figure as its order and the network alone ask for.
  function rearrange(figure) {
    const order = figure.querySelector("select[data-order]"), labels = data.labels[figure.id];
    for (const group of all(".variant:not(.off) [data-matrix]", figure)) {
      const m = matrices.get(group.dataset.matrix);
      if (!m || m.rowTokens.length === 0 || m.tileRows > 0) continue;
      const set = data.orders[m.orders];
      const way = set && order && set.ways.find((w) => w.name === order.value);
      let tokens = way ? way.tokens : m.rowTokens;
      if (alone >= 0 && labels) {
        const few = tokens.filter((t) => labels[t] === alone);
        if (few.length > 1) tokens = few;
      }
      const view = shown.get(group.dataset.matrix);
      const now = view ? view.rowTokens : m.rowTokens;
      if (now.length === tokens.length && now.every((t, i) => t === tokens[i])) continue;
      arrange(group.dataset.matrix, tokens);
      redraw(group);
    }
  }
  for (const select of all("select[data-order]")) select.addEventListener("change", () => rearrange(select.closest("figure")));
  function isolate(label) {
    if (label === alone) return;
    alone = label;
    for (const button of all("button[data-isolate]")) {
      const on = +button.dataset.isolate === alone;
      button.classList.toggle("alone", on);
      button.setAttribute("aria-pressed", String(on));
    }
    for (const figure of all("figure")) {
      const labels = data.labels[figure.id];
      if (!labels) continue;
      for (const mark of all("svg.fig [data-token]", figure)) {
        mark.classList.toggle("dim", alone >= 0 && labels[+mark.dataset.token] !== alone);
      }
      rearrange(figure);
    }
  }
  for (const button of all("button[data-isolate]")) {
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => isolate(+button.dataset.isolate === alone ? -1 : +button.dataset.isolate));
  }

  // ---- a matrix enlarged: the wheel zooms, dragging moves, Escape closes -------------------------------------------
  let zoom = null;
  function zoomWindow() {
    if (zoom) return zoom;
    const dialog = document.createElement("dialog"), canvas = document.createElement("canvas"), words = document.createElement("p");
    const top = document.createElement("div"), title = document.createElement("span"), close = document.createElement("button");
    top.className = "top";
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    top.append(title, close);
    dialog.append(top, canvas, words);
    document.body.append(dialog);
    zoom = { dialog, canvas, words, title, from: [0, 0], size: 0, view: null, values: null, figure: "" };
    const cell = (event) => {
      const box = canvas.getBoundingClientRect();
      return [zoom.from[0] + ((event.clientY - box.top) / box.height) * zoom.size, zoom.from[1] + ((event.clientX - box.left) / box.width) * zoom.size];
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoomTo(cell(event), event.deltaY < 0 ? 0.7 : 1 / 0.7);
    }, { passive: false });
    let held = null;
    canvas.addEventListener("pointerdown", (event) => { held = cell(event); canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointermove", (event) => {
      const at = cell(event);
      if (held) { zoom.from = [zoom.from[0] + held[0] - at[0], zoom.from[1] + held[1] - at[1]]; paint(); return; }
      const row = Math.floor(at[0]), col = Math.floor(at[1]), v = zoom.view;
      if (row < 0 || col < 0 || row >= v.rows || col >= v.cols) return;
      const [a, b] = tokensOf(v, row, col);
      words.textContent = (a >= 0 && b >= 0 ? tokenName(zoom.figure, a) + " · " + tokenName(zoom.figure, b) : "row " + (row + 1) + ", column " + (col + 1)) +
        ": " + (v.quantity ? v.quantity + " " : "") + number(valueAt(v, zoom.values, row, col));
    });
    dialog.addEventListener("keydown", (event) => {
      const middle = [zoom.from[0] + zoom.size / 2, zoom.from[1] + zoom.size / 2];
      if (event.key === "+") zoomTo(middle, 0.7); else if (event.key === "-") zoomTo(middle, 1 / 0.7);
    });
    return zoom;
  }
  function zoomTo(at, factor) {
    const most = Math.max(zoom.view.rows, zoom.view.cols), size = Math.min(most, Math.max(4, zoom.size * factor));
    zoom.from = [0, 1].map((i) => at[i] - ((at[i] - zoom.from[i]) / zoom.size) * size);
    zoom.size = size;
    paint();
  }
  function paint() {
    const v = zoom.view, most = Math.max(v.rows, v.cols);
    zoom.from = zoom.from.map((f) => Math.min(Math.max(0, f), Math.max(0, most - zoom.size)));
    const row = Math.floor(zoom.from[0]), col = Math.floor(zoom.from[1]), n = Math.ceil(zoom.size) + 1;
    const rows = Math.min(n, v.rows - row), cols = Math.min(n, v.cols - col);
    const small = document.createElement("canvas");
    small.width = cols; small.height = rows;
    small.getContext("2d").putImageData(pixels(v, zoom.values, row, col, rows, cols), 0, 0);
    zoom.canvas.width = zoom.canvas.height = 1200;
    const pen = zoom.canvas.getContext("2d"), k = 1200 / zoom.size;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, (col - zoom.from[1]) * k, (row - zoom.from[0]) * k, cols * k, rows * k);
  }
  async function enlarge(group) {
    const z = zoomWindow(), view = shownMatrix(group.dataset.matrix);
    z.values = await valuesOf(view.source);
    z.view = view;
    z.figure = figureOf(group);
    z.from = [0, 0];
    z.size = Math.max(view.rows, view.cols);
    z.title.textContent = group.closest("svg").getAttribute("aria-label") || "Matrix";
    z.words.textContent = "Wheel or + and −: zoom. Drag: move.";
    paint();
    z.dialog.showModal();
  }
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const group = target && target.closest("figure svg.fig [data-matrix]");
    if (group && matrices.has(group.dataset.matrix)) enlarge(group);
    const button = target && target.closest("button[data-zoom]");
    if (button) {
      const first = button.closest("figure").querySelector(".variant:not(.off) [data-matrix]");
      if (first && matrices.has(first.dataset.matrix)) enlarge(first);
    }
  });

  // ---- regions in space turn under the pointer ----------------------------------------------------------------------
  for (const space of all("[data-turn]")) {
    const [cx, cy] = space.dataset.turn.split(" ").map(Number);
    const regions = all("[data-xyz]", space).map((g) => ({ g, p: g.dataset.xyz.split(" ").map(Number) }));
    let yaw = -0.5, pitch = 0.45, held = null;
    const turn = () => {
      const [sy, c_y, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
      for (const r of regions) {
        const [x, y, z] = r.p, across = c_y * x - sy * y, into = sy * x + c_y * y;
        r.depth = cp * into - sp * z;
        r.g.setAttribute("transform", "translate(" + (cx + across).toFixed(1) + " " + (cy - (sp * into + cp * z)).toFixed(1) + ") scale(" +
          (1 - r.depth / 600).toFixed(2) + ")");
      }
      regions.sort((a, b) => b.depth - a.depth);
      for (const r of regions) space.append(r.g);
    };
    const svg = space.closest("svg");
    svg.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); });
    svg.addEventListener("pointerup", () => { held = null; });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      yaw += (event.clientX - held[0]) / 120; pitch = Math.min(1.6, Math.max(-1.6, pitch + (event.clientY - held[1]) / 120));
      held = [event.clientX, event.clientY];
      turn();
    });
    turn();
  }

  // ---- finding runs by words -----------------------------------------------------------------------------------------
  const filter = document.getElementById("filter");
  function find() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (node) => { const text = node.textContent.toLowerCase(); return words.every((w) => text.includes(w)); };
    let n = 0, of = 0;
    for (const box of all("input[data-toggle-run]")) {
      const row = box.closest("tr"), good = fits(row);
      row.classList.toggle("off", !good);
      const details = document.getElementById("run-" + box.dataset.toggleRun);
      if (details) details.classList.toggle("off", !good);
      n += good ? 1 : 0; of++;
    }
    document.getElementById("filtered").textContent = words.length ? n + " of " + of + " runs" : "";
  }
  if (filter) filter.addEventListener("input", find);

  // ---- a table that goes on below says so; the index says where the reader is -----------------------------------------
  for (const box of all(".scroll")) {
    const look = () => box.classList.toggle("more", box.scrollTop + box.clientHeight < box.scrollHeight - 2);
    box.addEventListener("scroll", look, { passive: true });
    window.addEventListener("resize", look);
    look();
  }
  const places = all("nav.index a").map((a) => ({ a, target: document.getElementById(a.getAttribute("href").slice(1)) })).filter((p) => p.target);
  const mark = () => {
    let here = null;
    for (const p of places) if (p.target.getBoundingClientRect().top < window.innerHeight * 0.35) here = p;
    for (const p of places) p.a.classList.toggle("here", p === here);
  };
  document.addEventListener("scroll", mark, { passive: true });
  mark();

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
    closed = all("details.config:not([open]),details.tests:not([open])");
    for (const d of closed) d.open = true;
  });
  window.addEventListener("afterprint", () => { for (const d of closed) d.open = false; });
})();
