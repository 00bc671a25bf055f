// What must hold of every report page.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

function ensure(condition, message) { if (!condition) throw new Error(message); }

export function parseCsv(text) {
  const rows = [];
  let row = [""], quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { row[row.length - 1] += '"'; i++; } else if (c === '"') quoted = false;
      else row[row.length - 1] += c;
    } else if (c === '"') quoted = true;
    else if (c === ",") row.push("");
    else if (c === "\n") { rows.push(row); row = [""]; } else row[row.length - 1] += c;
  }
  const [head, ...body] = rows;
  return body.map((r) => Object.fromEntries(head.map((h, i) => [h, r[i]])));
}

const tipText = (page) => page.evaluate(() => {
  const tip = document.getElementById("tip");
  return tip.classList.contains("on") ? tip.textContent : "";
});
async function hover(page, selector) {
  await page.evaluate((s) => document.querySelector(s).scrollIntoView({ block: "center", behavior: "instant" }), selector);
  await page.waitForTimeout(60);
  const box = await page.evaluate((s) => { const b = document.querySelector(s).getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 }; }, selector);
  await page.mouse.move(box.x, box.y);
  await page.waitForTimeout(60);
}

// The folder of each run, as its details on the page tell it.
const runFolders = (page) => page.evaluate(() => {
  const out = {};
  for (const details of document.querySelectorAll("details[id^='run-']")) {
    const names = Array.from(details.querySelectorAll("dt")), values = Array.from(details.querySelectorAll("dd"));
    out[details.id.slice(4)] = values[names.findIndex((n) => n.textContent === "folder")].textContent;
  }
  return out;
});
function readJson(file) { try { return JSON.parse(readFileSync(file, "utf8")); } catch { return null; } }
// "96.3 %" or "0.7351" as a number, and half a unit of its last digit.
function readNumber(text) {
  const digits = text.replace("−", "-").match(/-?\d+(\.\d+)?(e-?\d+)?/);
  if (!digits) return null;
  const decimals = (digits[1] || ".").length - 1, factor = text.includes("%") ? 0.01 : 1;
  return { value: Number(digits[0]) * factor, half: 0.51 * 10 ** -decimals * factor };
}

export const checks = [
  { name: "the table of runs shows what summary.json holds", async run({ page, name }) {
    const folders = await runFolders(page);
    const rows = await page.evaluate(() => {
      const table = document.querySelector("input[data-toggle-run]").closest("table");
      const heads = Array.from(table.querySelectorAll("thead th")).map((h) => h.textContent);
      return Array.from(table.tBodies[0].rows).map((r) => ({
        run: r.querySelector("input").dataset.toggleRun,
        cells: Object.fromEntries(heads.map((h, i) => [h, r.cells[i].textContent])),
      }));
    });
    let compared = 0;
    for (const row of rows) {
      const values = readJson(path.join(folders[row.run], "summary.json"));
      if (!values) continue;
      const key = Object.keys(row.cells).find((h) => / (accuracy|error \(MSE\))$/.test(h));
      const shown = key && readNumber(row.cells[key]);
      if (!shown) continue;
      const split = key.startsWith("held-out") ? "heldout" : key.split(" ")[0];
      const want = values[split + (key.endsWith("accuracy") ? ".accuracy" : ".mse")];
      ensure(typeof want === "number", `no ${key} in ${folders[row.run]}/summary.json`);
      ensure(Math.abs(shown.value - want) <= shown.half, `run ${row.run}: ${row.cells[key]} on screen, ${want} in summary.json`);
      ++compared;
    }
    ensure(compared > 0 || name === "broken", "nothing was compared");
  } },
  { name: "a mark of the recovery figure shows what recovery.json holds", async run({ page }) {
    const folders = await runFolders(page);
    const mark = await page.evaluate(() => {
      const panel = document.querySelector("#fig-recovery .variant:not(.off) svg.fig");
      const circles = panel ? Array.from(panel.querySelectorAll("circle[data-run]")) : [];
      if (circles.length === 0) return null;
      panel.scrollIntoView({ block: "center", behavior: "instant" });
      const at = (m) => { const b = m.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; };
      const top = circles.find((m) => document.elementFromPoint(...at(m)) === m);
      if (!top) return null;
      top.id = "probe";
      return { run: top.dataset.run };
    });
    if (!mark) return;
    const file = path.join(folders[mark.run], "analysis", "recovery.json");
    if (!existsSync(file)) return;
    const rows = readJson(file).truths.filter((r) => r.model === "final" && r.layer === 0 && r.code === "raw" && r.similarity === "cosine");
    await hover(page, "#probe");
    const tip = await tipText(page), shown = readNumber(tip.split(": ").pop());
    ensure(shown && rows.some((r) => Math.abs(r.pearson - shown.value) <= shown.half), `"${tip}" is none of ${rows.map((r) => r.pearson)}`);
  } },
  { name: "hovering a mark shows its value, which stands in the CSV", async run({ page, csv }) {
    const text = csv("accuracy_vs_sigma");
    if (!text || !(await page.$("#fig-accuracy_vs_sigma circle[data-run]"))) return;
    const rows = parseCsv(text);
    const mark = await page.evaluate(() => {
      for (const m of document.querySelectorAll("#fig-accuracy_vs_sigma .ring")) m.remove();
      document.querySelector("#fig-accuracy_vs_sigma").scrollIntoView({ block: "center", behavior: "instant" });
      const top = Array.from(document.querySelectorAll("#fig-accuracy_vs_sigma circle[data-run]")).find((m) => {
        const b = m.getBoundingClientRect();
        return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2) === m;  // not under another run's
      });
      top.setAttribute("id", "probe");
      return { value: top.dataset.value };
    });
    ensure(rows.some((r) => r.value === mark.value), `value ${mark.value} is not in the CSV`);
    await hover(page, "#probe");
    const tip = await tipText(page);
    const shown = tip.match(/: (−?[\d.]+)/);
    ensure(shown, `tooltip "${tip}" shows no number`);
    const factor = tip.includes("%") ? 100 : 1, value = Number(shown[1].replace("−", "-"));
    ensure(Math.abs(value - factor * Number(mark.value)) <= 0.051 * (factor === 100 ? 1 : 0.01), `tooltip ${tip} against ${mark.value}`);
  } },
  { name: "hovering a matrix shows the value of the CSV", async run({ page, csv }) {
    const text = csv("similarity");
    const selector = "#fig-similarity .variant:not(.off) [data-matrix$='f'] .frame";
    if (!text || !(await page.$(selector))) return;
    const rows = parseCsv(text).filter((r) => r.stage === "learned" && r.layer === "1");
    const run = rows[0].run;
    const at = new Map(rows.filter((r) => r.run === run).map((r) => [r.row + "," + r.column, Number(r.value)]));
    await page.evaluate((s) => document.querySelector(s).scrollIntoView({ block: "center", behavior: "instant" }), selector);
    await page.waitForTimeout(80);
    const info = await page.evaluate((s) => {
      const frame = document.querySelector(s), b = frame.getBoundingClientRect();
      const id = frame.closest("[data-matrix]").dataset.matrix;
      const m = JSON.parse(document.getElementById("data").textContent).matrices.find((x) => x.id === id);
      return { x: b.x, y: b.y, w: b.width, h: b.height, rows: m.rows, cols: m.cols, tokens: m.rowTokens };
    }, selector);
    for (const [r, c] of [[0, 1], [2, 5], [info.rows - 1, 0], [7, 7]]) {
      await page.mouse.move(info.x + ((c + 0.5) * info.w) / info.cols, info.y + ((r + 0.5) * info.h) / info.rows);
      let tip = "";
      for (let i = 0; i < 40 && !/-?[\d.]+$/.test(tip); i++) { await page.waitForTimeout(50); tip = await tipText(page); }
      const a = info.tokens[r], b = info.tokens[c];
      const want = at.get(Math.min(a, b) + "," + Math.max(a, b));
      ensure(tip.includes(": cosine "), `"${tip}" does not say what the number is`);
      const got = Number(tip.split(" ").pop().replace("−", "-"));
      ensure(Math.abs(got - want) < 0.0011, `cell ${r},${c}: "${tip}" against ${want}`);
    }
  } },
  { name: "hovering a token lights it in every figure", async run({ page }) {
    const marks = "#fig-position_map .variant:not(.off) [data-token]";
    if (!(await page.$(marks))) return;
    // A token that no other mark covers.
    const token = await page.evaluate((all) => {
      const free = Array.from(document.querySelectorAll(all)).find((m) => {
        m.scrollIntoView({ block: "center", behavior: "instant" });
        const box = m.getBoundingClientRect();
        const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        return top !== null && top.closest("[data-token]") === m;
      });
      return free && free.dataset.token;
    }, marks);
    ensure(token !== undefined, "every token is covered by another one");
    await hover(page, `#fig-position_map .variant:not(.off) [data-token='${token}']`);
    const lit = await page.evaluate(() => ({
      marks: Array.from(document.querySelectorAll(".lit")).map((m) => m.dataset.token),
      rows: document.querySelectorAll("#fig-similarity .hl-row.on").length,
    }));
    ensure(lit.marks.length >= 2 && lit.marks.every((t) => t === token), "lit marks: " + lit.marks.join());
    ensure(lit.rows >= 1, "no row of a matrix is lit");
    await page.mouse.move(2, 2);
    ensure((await page.evaluate(() => document.querySelectorAll(".lit").length)) === 0, "stays lit");
  } },
  { name: "a legend switch hides and shows a setting everywhere", async run({ page }) {
    const button = await page.$("button[data-toggle-group]");
    if (!button) return;
    const group = await button.getAttribute("data-toggle-group");
    const visible = () => page.evaluate((g) => Array.from(document.querySelectorAll(`svg.fig [data-group="${g}"]`)).filter((m) => !m.classList.contains("off")).length, group);
    const before = await visible();
    ensure(before > 0, "nothing to hide");
    await button.click();
    ensure((await visible()) === 0, "still visible");
    ensure((await button.getAttribute("aria-pressed")) === "false", "aria-pressed");
    await button.focus();
    await page.keyboard.press("Enter");
    ensure((await visible()) === before, "Enter does not bring it back");
  } },
  { name: "a run's switch hides its marks; Show all brings them back", async run({ page }) {
    const target = await page.evaluate(() => { const m = document.querySelector("svg.fig [data-run]"); return m ? m.dataset.run : null; });
    if (target === null) return;
    const visible = () => page.evaluate((r) => Array.from(document.querySelectorAll(`svg.fig [data-run="${r}"]`)).filter((m) => !m.classList.contains("off")).length, target);
    const before = await visible();
    await page.focus(`input[data-toggle-run="${target}"]`);
    await page.keyboard.press("Space");
    ensure((await visible()) === 0, "still visible");
    await page.click("#show-all");
    ensure((await visible()) === before, "not back");
  } },
  { name: "choosing a layer shows its panels only", async run({ page }) {
    const select = await page.$("#fig-similarity select[data-choice=layer]");
    if (!select) return;
    const options = await select.$$eval("option", (o) => o.map((x) => x.textContent));
    if (options.length < 2) return;
    ensure(await select.isVisible(), "hidden");
    await select.selectOption(options[1]);
    const shown = await page.$$eval("#fig-similarity .variant:not(.off)", (v) => v.map((x) => JSON.parse(x.dataset.choices)));
    ensure(shown.length === 1 && shown[0][1] === options[1], "shown: " + JSON.stringify(shown));
  } },
  { name: "every choice of a figure shows exactly one drawing, by mouse and by keyboard", async run({ page }) {
    for (const figure of await page.$$("figure:has(select[data-choice])")) {
      for (const select of await figure.$$("select[data-choice]")) {
        const options = await select.$$eval("option", (o) => o.map((x) => x.textContent));
        const key = await select.getAttribute("data-choice");
        ensure((await select.isVisible()) === options.length > 1, `${key}: shown without a choice, or hidden with one`);
        if (options.length < 2) continue;
        for (const option of [...options.slice(1, 4), options[0]]) {
          await select.selectOption(option);
          const shown = await figure.$$eval(".variant:not(.off)", (v) => v.map((x) => x.querySelectorAll("svg.fig").length));
          ensure(shown.length === 1 && shown[0] > 0, `${key} ${option}: ${JSON.stringify(shown)}`);
          ensure((await select.inputValue()) === option, `${key} ${option} does not stay`);
        }
        await select.focus();
        await page.keyboard.press("ArrowDown");
        ensure((await select.inputValue()) === options[1], `${key}: the arrow key does not choose`);
        await page.keyboard.press("ArrowUp");
      }
    }
  } },
  { name: "columns sort both ways, by number where they are numbers", async run({ page }) {
    const result = await page.evaluate(() => {
      const out = [];
      for (const table of document.querySelectorAll("table.sortable")) {
        const heads = Array.from(table.querySelectorAll("thead th"));
        heads.forEach((head, k) => {
          const button = head.querySelector("button");
          if (!button) return;
          for (const way of ["ascending", "descending"]) {
            button.click();
            if (head.getAttribute("aria-sort") !== way) out.push("aria-sort of " + head.textContent);
            const keys = Array.from(table.tBodies[0].rows).map((r) => r.cells[k].dataset.sort).filter((x) => x !== undefined).map(Number);
            for (let i = 1; i < keys.length; i++) if (way === "ascending" ? keys[i] < keys[i - 1] : keys[i] > keys[i - 1]) { out.push(head.textContent + " " + way); break; }
          }
        });
      }
      return out;
    });
    ensure(result.length === 0, result.join("; "));
  } },
  { name: "arrow keys walk the marks of a panel", async run({ page }) {
    const svg = await page.$("figure .variant:not(.off) svg.fig[tabindex]");
    if (!svg) return;
    await svg.focus();
    await page.keyboard.press("ArrowRight");
    const first = await tipText(page);
    ensure(first !== "", "no tooltip");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    ensure((await tipText(page)) === first, "does not come back");
    await page.keyboard.press("Escape");
    ensure((await tipText(page)) === "", "Escape leaves the tooltip");
  } },
  { name: "the theme button changes the colours, all controls are reachable by Tab", async run({ page }) {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await colour();
    await page.click("#theme");
    ensure((await colour()) !== before, "same background");
    await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
    const reached = new Set();
    for (let i = 0; i < 25; i++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.tagName.toLowerCase()));
    }
    ensure(reached.has("button") && reached.has("a"), "reached: " + Array.from(reached).join());
  } },
  { name: "the answer comes first, in sentences, with what may be said", async run({ page, name }) {
    const found = await page.evaluate(() => ({
      sentences: Array.from(document.querySelectorAll(".verdict p")).map((p) => p.textContent),
      boxes: Array.from(document.querySelectorAll(".sayings h3")).map((h) => h.textContent),
      first: document.querySelector("main > *").id,
    }));
    ensure(found.first === "answer" && found.sentences.length >= 1, JSON.stringify(found));
    ensure(name === "broken" || found.boxes.length >= 1, "nothing may or may not be said");
  } },
  { name: "an index at the side leads to every figure; figures stand in two columns where there is room", async run({ page }) {
    const figures = await page.$$eval("figure", (f) => f.map((x) => x.id));
    const links = await page.$$eval("nav.index a", (a) => a.map((x) => x.getAttribute("href").slice(1)));
    for (const id of figures) ensure(links.includes(id), "no link to " + id);
    ensure((await page.$$eval("nav.index", (n) => n[0].getBoundingClientRect().width)) > 100, "no index at 1280 px");
    const narrow = await page.$$eval(".figs > figure:not(.span)", (f) => f.map((x) => x.getBoundingClientRect()).map((b) => [b.left, b.width]));
    if (narrow.length > 1) ensure(new Set(narrow.map((b) => Math.round(b[0]))).size === 2, "one column only");
  } },
  { name: "one choice of the run moves all figures that have it", async run({ page }) {
    const names = await page.$$eval("#run-choice option", (o) => o.map((x) => x.value));
    if (names.length < 2) return;
    await page.selectOption("#run-choice select", names[1]);
    const shown = await page.$$eval("select[data-choice=run]", (s) => s.map((x) => [Array.from(x.options).map((o) => o.value), x.value]));
    for (const [all, value] of shown) ensure(!all.includes(names[1]) || value === names[1], `${value} instead of ${names[1]}`);
  } },
  { name: "another order moves rows and columns, and the values stay with their tokens", async run({ page }) {
    const select = await page.$("#fig-similarity select[data-order]");
    if (!select) return;
    const ways = await select.$$eval("option", (o) => o.map((x) => x.value));
    if (ways.length < 2) return;
    const selector = "#fig-similarity .variant:not(.off) [data-matrix$='f']";
    const before = await page.getAttribute(selector + " image", "href");
    const names = async () => {
      const box = await page.evaluate((s) => { const f = document.querySelector(s + " .frame"); f.scrollIntoView({ block: "center", behavior: "instant" }); const b = f.getBoundingClientRect(); return { x: b.x, y: b.y, w: b.width, h: b.height }; }, selector);
      const out = new Map();
      for (let k = 1; k < 6; k++) {
        await page.mouse.move(box.x + box.w * 0.013, box.y + (box.h * k) / 6);
        await page.waitForTimeout(120);
        const [pair, value] = (await tipText(page)).split(": cosine ");
        out.set((pair || "").split(" · ").sort().join(), value);
      }
      return out;
    };
    const first = await names();
    await select.selectOption(ways[ways.length - 1]);
    await page.waitForTimeout(300);
    ensure((await page.getAttribute(selector + " image", "href")) !== before, "the picture is the same");
    const second = await names();
    for (const [pair, value] of second) if (first.has(pair)) ensure(first.get(pair) === value, pair + ": " + value + " was " + first.get(pair));
  } },
  { name: "a click on a network shows it alone, a second one all of them", async run({ page }) {
    const button = await page.$("figure .variant:not(.off) button[data-isolate]");
    if (!button) return;
    await button.click();
    const dim = await page.evaluate(() => [document.querySelectorAll("svg.fig .dim").length, document.querySelectorAll("svg.fig [data-token]:not(.dim)").length]);
    ensure(dim[0] > 0 && dim[1] > 0, "dim, bright: " + dim);
    await button.click();
    ensure((await page.evaluate(() => document.querySelectorAll("svg.fig .dim").length)) === 0, "some stay dim");
  } },
  { name: "a matrix can be enlarged, looked into and closed", async run({ page }) {
    const button = await page.$("figure button[data-zoom]");
    if (!button) return;
    await button.click();
    await page.waitForSelector("dialog[open] canvas");
    const box = await (await page.$("dialog canvas")).boundingBox();
    ensure(box.width > 400, "only " + box.width + " px");
    await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
    await page.mouse.wheel(0, -400);
    await page.mouse.move(box.x + box.width / 3 + 2, box.y + box.height / 2);
    await page.waitForTimeout(80);
    ensure(/: .*\d/.test(await page.textContent("dialog p")), await page.textContent("dialog p"));
    await page.keyboard.press("Escape");
    ensure(!(await page.$("dialog[open]")), "stays open");
  } },
  { name: "regions in space turn under the pointer and tell their names", async run({ page }) {
    const space = await page.$("figure .variant:not(.off) [data-turn]");
    if (!space) return;
    const svg = await page.evaluateHandle((g) => g.closest("svg"), space);
    await svg.evaluate((s) => s.scrollIntoView({ block: "center", behavior: "instant" }));
    const at = () => space.$eval("[data-xyz]", (g) => g.parentNode.textContent + Array.from(g.parentNode.children).map((c) => c.getAttribute("transform")).join());
    const before = await at(), box = await svg.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 80, box.y + box.height / 2 + 20, { steps: 4 });
    await page.mouse.up();
    ensure((await at()) !== before, "does not turn");
  } },
  { name: "words find runs", async run({ page }) {
    const rows = () => page.$$eval("input[data-toggle-run]", (b) => b.filter((x) => !x.closest("tr").classList.contains("off")).length);
    const all = await rows();
    await page.fill("#filter", "no such run anywhere");
    ensure((await rows()) === 0, "still there");
    const word = await page.$eval("input[data-toggle-run]", (b) => b.closest("tr").cells[1].textContent);
    await page.fill("#filter", word);
    ensure((await rows()) >= 1, "not found: " + word);
    await page.click("#show-all");
    ensure((await rows()) === all, "not all back");
  } },
  { name: "nothing in the page runs or loads that was not written for it", async run({ page }) {
    const found = await page.evaluate(() => ({
      scripts: document.querySelectorAll("script:not([type='application/json'])").length,
      handlers: Array.from(document.querySelectorAll("*")).flatMap((n) => Array.from(n.attributes)).filter((a) => /^on/i.test(a.name)).length,
      styles: document.querySelectorAll("[style]:not(#tip)").length,
      loads: document.querySelectorAll("iframe,object,embed,link,form,base").length,
      links: Array.from(document.querySelectorAll("a[href]")).map((a) => a.getAttribute("href")).filter((h) => !/^(#|\.\/)/.test(h)),
      hacked: window.hacked === undefined ? 0 : 1,
      csp: document.querySelector("meta[http-equiv]").content,
    }));
    ensure(found.scripts === 1 && found.handlers === 0 && found.styles === 0 && found.loads === 0 && found.hacked === 0, JSON.stringify(found));
    ensure(found.links.length === 0, "links: " + found.links.join());
    ensure(found.csp.startsWith("default-src 'none'") && !found.csp.includes("unsafe"), found.csp);
  } },
  { name: "paints in less than a second", async run({ page }) {
    const time = await page.evaluate(() => new Promise((done) => {
      const have = performance.getEntriesByName("first-contentful-paint")[0];
      if (have) { done(have.startTime); return; }
      setTimeout(() => { const e = performance.getEntriesByName("first-contentful-paint")[0]; done(e ? e.startTime : -1); }, 1500);
    }));
    ensure(time >= 0 && time < 1000, `first paint after ${time} ms`);
  } },
];
