// The first minutes: a server without a span, and one that is busy.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { send, until } from "./demo.mjs";
import { RECENT } from "./pages.mjs";
import { withServer } from "./server.mjs";

/** The page of an empty server names its own ports, and goes on by itself when the first span is there. */
export async function emptyServer(page, world) {
  await withServer(world, () => ({}), async ({ base, otlp, pg }) => {
    await page.goto(base);
    await page.getByText("No span has arrived yet").waitFor();
    await page.getByText(otlp.replace("127.0.0.1", new URL(base).hostname)).first().waitFor();
    const text = await page.locator(".way pre").last().innerText();
    assert.match(text, new RegExp(`curl http://127\\.0\\.0\\.1:${new URL(otlp).port}/v1/traces`));
    assert.doesNotMatch(text, /TOKEN|ca\.pem/, "neither token nor certificate is needed here");
    assert.deepEqual((await violations(page)).map((each) => each.id), []);
    const range = page.locator("[data-range]");
    const shown = await range.getAttribute("title");
    let loads = 0;
    page.on("load", () => (loads += 1));
    await send(otlp, "my-app", [{ trace: "c".repeat(32), id: "c".repeat(16), name: "chat" }]);
    await page.getByText("No span has arrived yet").waitFor({ state: "detached" });
    await page.getByText("Spans have arrived, but none was scored").waitFor();
    assert.equal(loads, 0, "without a reload");
    assert.notEqual(await range.getAttribute("title"), shown, "the time range goes along: the first span is younger than the page");
    await page.goto(`${base}/sql`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy psql line" }).click();
    await page.getByText("psql line copied").waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), new RegExp(`^psql -h 127\\.0\\.0\\.1 -p ${pg.split(":").pop()} -c '`), "with the port of this server");
  });
}

/** Busy: each panel counts down and asks again by itself. */
export async function busyServer(page, world) {
  let refused = 0;
  await page.clock.install();
  await page.route("**/v1/sql", (route) => {
    if (refused >= 4) return route.continue();
    refused += 1;
    return route.fulfill({ status: 503, headers: { "retry-after": "50" }, json: { error: "8 queries run and 16 wait: sql.max_concurrent" } });
  });
  await page.goto(`${world.base}/#${RECENT}`);
  const counts = page.getByText(/asks again in \d+ s/).first();
  const left = async () => Number(/in (\d+) s/.exec(await counts.innerText())[1]);
  await counts.waitFor();
  assert.ok((await left()) > 30, "it waits as long as the server says");
  await page.getByText("The server is busy").first().waitFor();
  await page.getByText("sql.max_concurrent").first().waitFor();
  // The clock is turned by hand, and goes by itself as well: where other work runs beside, a second may pass between two looks.
  for (let turn = 0; turn < 6; turn++) {
    const before = await left();
    await page.clock.runFor(1000);
    await until("a second less", async () => (await left()) < before);
  }
  assert.equal(refused, 4, "nothing is asked before the time");
  await until("it asks again", async () => {
    await page.clock.runFor(10_000);
    return (await page.getByText("The server is busy").count()) === 0;
  });
  await page.locator("table.quality tbody tr").first().waitFor();
}
