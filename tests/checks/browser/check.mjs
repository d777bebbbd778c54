// Checks the exporter's pages in a real browser, wide and narrow, light and dark.
//
// usage: check.mjs FOLDER [NAME LOG SELECTOR]... Opens the overview and the configuration of each
// exporter, at the address in its log, as soon as the selector matches something in its overview.
// Fails on a page that scrolls sideways, writes to the console, requests anything but itself, is not
// styled, or has an accessibility issue that axe-core rates serious or critical. Leaves pictures in
// FOLDER. CHROMIUM is the browser; the default is Debian's.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = { desktop: 1280, phone: 360 };
const SCHEMES = ["light", "dark"];
const PAGES = { overview: "./", configuration: "./config" };
const GRAVE = ["serious", "critical"];
// Far longer than it takes, because a machine may be busy.
const PATIENCE_MS = 120_000;

/// Everything wrong with the page that `load` opens in a new tab.
async function faults(browser, width, colorScheme, origin, load, picture) {
  const found = [];
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  page.on("console", (message) => found.push(`console: ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => found.push(`script error: ${error}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    const isPage = url.origin === origin && request.resourceType() === "document";
    if (!isPage && url.protocol !== "data:") found.push(`asks for ${request.url()}`);
  });
  page.setDefaultTimeout(PATIENCE_MS);
  await load(page);
  // Folded content is part of the page, too.
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  found.push(...(await page.evaluate(layoutFaults)));
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, impact, help, nodes } of violations) {
    const where = nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ");
    const line = `axe: ${impact}: ${id}: ${help} (${where})`;
    if (GRAVE.includes(impact)) found.push(line);
    else if (picture) console.log(`  remark: ${line}`);
  }
  if (passes.length === 0) found.push("axe checked nothing");
  if (picture) await page.screenshot({ path: picture, fullPage: true });
  await context.close();
  return found;
}

/// Runs inside the page.
function layoutFaults() {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].filter(
      (one) => !one.closest(".scroll, svg") && one.getBoundingClientRect().right > root.clientWidth + 0.5,
    );
    const names = wide.slice(0, 3).map((one) => `${one.tagName.toLowerCase()}.${one.className}`);
    found.push(`scrolls sideways: ${root.scrollWidth} px in ${root.clientWidth} px (${names.join(", ")})`);
  }
  // The only style sheet is refused when the hash in the policy is not its own.
  if (getComputedStyle(document.body).maxWidth === "none") found.push("is not styled");
  return found;
}

/// A page with every possible fault: a check that does not find them is worthless.
async function proveThatFaultsAreFound(browser) {
  const html = `<title>x</title><img src="https://example.invalid/x.png"><p style="width:3000px">x</p>
    <script>console.error("x"); throw new Error("y")</script>`;
  const found = await faults(browser, 360, "light", "null", (page) => page.setContent(html));
  for (const kind of ["console", "script error", "asks for", "scrolls sideways", "is not styled", "axe"]) {
    if (!found.some((fault) => fault.startsWith(kind))) throw new Error(`no ${kind} in ${found}`);
  }
}

/// What `look` finds, as soon as it finds something.
async function waitFor(what, look) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/// The address of an exporter, once its overview has what the selector selects.
async function baseOf(browser, log, selector) {
  const pattern = /address=(\S+)/;
  const [, address] = await waitFor(`an address in ${log}`, () => pattern.exec(readFileSync(log, "utf8")));
  const page = await browser.newPage();
  await waitFor(`${selector} on ${address}`, async () => {
    await page.goto(`http://${address}/`);
    return page.$(selector);
  });
  await page.close();
  return `http://${address}/`;
}

const [folder, ...rest] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // The sandbox needs a user other than root.
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
let looks = 0;
let failed = 0;
try {
  await proveThatFaultsAreFound(browser);
  for (let at = 0; at < rest.length; at += 3) {
    const [name, log, selector] = rest.slice(at, at + 3);
    const base = await baseOf(browser, log, selector);
    for (const [title, address] of Object.entries(PAGES)) {
      for (const [size, width] of Object.entries(WIDTHS)) {
        for (const scheme of SCHEMES) {
          const url = new URL(address, base);
          const label = `${name}-${title}-${size}-${scheme}`;
          const load = async (page) => {
            const answer = await page.goto(url.href);
            if (answer.status() !== 200) throw new Error(`${url}: status ${answer.status()}`);
          };
          const picture = path.join(folder, `${label}.png`);
          const found = await faults(browser, width, scheme, url.origin, load, picture);
          looks += 1;
          failed += found.length > 0 ? 1 : 0;
          console.log(`${label}: ${found.length > 0 ? "FAILED" : "ok"}`);
          found.forEach((fault) => console.log(`  ${fault}`));
        }
      }
    }
  }
} finally {
  await browser.close();
}
console.log(`${looks} looks, ${failed} with faults; pictures in ${folder}`);
if (looks === 0 || failed > 0) process.exit(1);
