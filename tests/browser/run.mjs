// Opens every report of a folder in Chromium: no console error, no request, values on screen equal to the data, switches,
// choices, sorting, keyboard, nothing overlapping or overflowing at three widths in both colour schemes. Takes pictures.
// Usage: node run.mjs SAMPLE_DIR PICTURE_DIR [PAGE...]   (SAMPLE_DIR holds PAGE.html and PAGE_files/)
import { chromium } from "playwright-core";
import { mkdirSync, readdirSync, readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { checks } from "./checks.mjs";

const [sampleDir, pictureDir] = process.argv.slice(2, 4).map((p) => path.resolve(p));
const wanted = process.argv.slice(4);
if (!sampleDir || !pictureDir) {
  console.error("usage: node run.mjs SAMPLE_DIR PICTURE_DIR [PAGE...]");
  process.exit(2);
}
mkdirSync(pictureDir, { recursive: true });
const pages = readdirSync(sampleDir).filter((name) => name.endsWith(".html"))
  .filter((name) => wanted.length === 0 || wanted.includes(name.replace(/\.html$/, ""))).sort();
if (pages.length === 0) {
  console.error("no .html in " + sampleDir);
  process.exit(2);
}
const profile = mkdtempSync(path.join(tmpdir(), "locus-chromium-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  headless: true,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-quic"],
});
let failures = 0, passed = 0;

async function open(file, width, scheme) {
  const page = await context.newPage();
  const seen = { errors: [], requests: [] };
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") seen.errors.push(m.text()); });
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  page.on("dialog", (d) => { seen.errors.push("dialog: " + d.message()); d.dismiss(); });
  page.on("request", (r) => { if (!r.url().startsWith("file://" + file) && !r.url().startsWith("data:")) seen.requests.push(r.url()); });
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: width < 500 ? 780 : width > 3000 ? 2160 : 900 });
  await page.goto("file://" + file);
  return { page, seen };
}

// One page made narrow and wide again while it is open.
async function resizing(file, stem) {
  const { page, seen } = await open(file, 1280, "light");
  const problems = [];
  for (const width of [360, 700, 1000, 1920, 360]) {
    await page.setViewportSize({ width, height: 800 });
    problems.push(...(await page.evaluate(layoutProblems)).map((p) => `${width} px: ${p}`));
  }
  problems.push(...seen.errors, ...seen.requests);
  if (problems.length) {
    ++failures;
    console.log(`FAIL ${stem}: resizing\n     ${problems.slice(0, 6).join("\n     ")}`);
  } else {
    ++passed;
  }
  await page.close();
}

for (const name of pages) {
  const file = path.join(sampleDir, name), stem = name.replace(/\.html$/, "");
  const files = path.join(sampleDir, stem + "_files");
  const csv = (figure) => { try { return readFileSync(path.join(files, figure + ".csv"), "utf8"); } catch { return null; } };
  for (const check of checks) {
    const { page, seen } = await open(file, 1280, "light");
    try {
      await check.run({ page, csv, name: stem });
      if (seen.errors.length) throw new Error("console: " + seen.errors.join(" | "));
      if (seen.requests.length) throw new Error("requests: " + seen.requests.join(" "));
      ++passed;
    } catch (error) {
      ++failures;
      console.log(`FAIL ${stem}: ${check.name}\n     ${error.message}`);
    }
    await page.close();
  }
  await resizing(file, stem);
  {
    const { page } = await open(file, 1280, "light");
    await page.pdf({ path: path.join(pictureDir, `${stem}_print.pdf`), format: "A4" });
    await page.close();
  }
  for (const width of [360, 1280, 2560, 3840]) {
    for (const scheme of ["light", "dark"]) {
      const { page, seen } = await open(file, width, scheme);
      const problems = await page.evaluate(layoutProblems);
      problems.push(...seen.errors, ...seen.requests);
      await page.screenshot({ path: path.join(pictureDir, `${stem}_${width}_${scheme}.png`), fullPage: width < 3000 });
      if (problems.length) {
        ++failures;
        console.log(`FAIL ${stem}: layout at ${width} px, ${scheme}\n     ${problems.slice(0, 6).join("\n     ")}`);
      } else {
        ++passed;
      }
      await page.close();
    }
  }
}
await context.close();
rmSync(profile, { recursive: true, force: true });
console.log(`${passed} passed, ${failures} failed`);
process.exit(failures ? 1 : 0);

// Runs in the page: what sticks out of its place or lies over something else.
function layoutProblems() {
  const problems = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth + 1) problems.push(`page is ${root.scrollWidth} wide in ${root.clientWidth}`);
  const show = (node) => (node.textContent || "").trim().slice(0, 40);
  for (const svg of document.querySelectorAll("figure svg.fig")) {
    const outer = svg.getBoundingClientRect();
    if (outer.width === 0) continue;  // another choice is shown
    const where = svg.getAttribute("aria-label");
    const texts = Array.from(svg.querySelectorAll("text")).map((t) => ({ t, box: t.getBoundingClientRect() }));
    for (const { t, box } of texts) {
      if (box.left < outer.left - 1.5 || box.right > outer.right + 1.5 || box.top < outer.top - 1.5 || box.bottom > outer.bottom + 1.5) {
        problems.push(`"${show(t)}" sticks out of "${where}"`);
      }
      const size = parseFloat(getComputedStyle(t).fontSize) * (outer.width / svg.viewBox.baseVal.width);
      if (size < 7.5) problems.push(`"${show(t)}" is ${size.toFixed(1)} px tall in "${where}"`);
    }
    for (let i = 0; i < texts.length; i++) {
      for (let j = i + 1; j < texts.length; j++) {
        const a = texts[i].box, b = texts[j].box;
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w > 1.5 && h > 3) problems.push(`"${show(texts[i].t)}" lies on "${show(texts[j].t)}" in "${where}"`);
      }
    }
  }
  for (const node of document.querySelectorAll("p,li,dd,dt,td,th,h1,h2,h3,figcaption,summary,pre,button,select")) {
    const box = node.getBoundingClientRect();
    if (box.width === 0 || node.closest(".scroll")) continue;
    if (box.right > root.clientWidth + 1 || box.left < -1) problems.push(`"${show(node)}" leaves the page`);
  }
  const blocks = Array.from(document.querySelectorAll("main > *")).map((n) => ({ n, box: n.getBoundingClientRect() })).filter((b) => b.box.height);
  for (let i = 1; i < blocks.length; i++) {
    if (blocks[i].box.top < blocks[i - 1].box.bottom - 1) problems.push(`${blocks[i].n.tagName} overlaps the block before it`);
  }
  return problems;
}
