// Screenshots of the pages: `node e2e/shots.mjs URL FOLDER [page …]`; each in light, dark and at 390 px.
import { chromium } from "playwright-core";
import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

export const CHROMIUM = process.env.GROUNDLINE_CHROMIUM ?? "/usr/bin/chromium";

export async function browser() {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

export const SIZES = {
  light: { colorScheme: "light", viewport: { width: 1400, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1400, height: 900 } },
  small: { colorScheme: "light", viewport: { width: 390, height: 844 } },
};

/** Waits until no panel is busy; one that stays busy is a fault. */
export async function settled(page) {
  await page.waitForSelector("main", { timeout: 120_000 });
  // What one panel has found may make another ask: quiet is what is quiet at the second look.
  do {
    await page.waitForFunction(() => !document.querySelector("[aria-busy=true], .bars"), undefined, { timeout: 120_000 });
    await page.waitForTimeout(150);
  } while (await page.evaluate(() => document.querySelector("[aria-busy=true], .bars") !== null));
}

async function main() {
  const [base, folder, ...paths] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  const chrome = await browser();
  const sizes = (process.env.SIZES ?? "light,dark,small").split(",");
  for (const size of sizes) {
    const context = await chrome.newContext(SIZES[size]);
    const page = await context.newPage();
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && console.log(size, message.text().slice(0, 400)));
    page.on("pageerror", (error) => console.log(size, "pageerror", String(error).slice(0, 600)));
    for (const path of paths) {
      const [name, rest] = path.includes("=>") ? path.split("=>") : [path.replace(/[^a-z]+/gi, "-").slice(0, 30), path];
      await page.goto("about:blank");
      await page.goto(base + rest);
      await settled(page);
      await page.screenshot({ path: `${folder}/${name}-${size}.png`, fullPage: process.env.FULL === "1" });
    }
    await context.close();
  }
  await chrome.close();
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main();
