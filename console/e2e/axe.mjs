// Runs axe-core on a page: what it finds against WCAG A and AA, in words.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The page's policy forbids scripts of others, so axe is put in by the debugger, which no policy binds. */
export async function violations(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: source });
  const { result } = await session.send("Runtime.evaluate", {
    expression: `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] })
      .then((found) => JSON.stringify(found.violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map((n) => n.target.join(" ") + " " + (n.any[0] || n.all[0] || n.none[0] || {}).message).slice(0, 3), count: nodes.length }))))`,
    awaitPromise: true, returnByValue: true,
  });
  await session.detach();
  return JSON.parse(result.value);
}
