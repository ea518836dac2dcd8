// Login at a server with tokens, and two tenants of whom neither sees the other.
import assert from "node:assert/strict";
import { join } from "node:path";
import { violations } from "./axe.mjs";
import { send, until } from "./demo.mjs";
import { token, withServer } from "./server.mjs";
import { settled } from "./shots.mjs";

const trace = { a: "a".repeat(32), b: "b".repeat(32) };

/** A server whose tokens file knows two tenants and somebody who sees both. */
function everybody(world) {
  const tokens = {};
  const more = (folder) => {
    const file = join(folder, "tokens.toml");
    for (const tenant of ["a", "b"]) {
      tokens[`send-${tenant}`] = token(world, file, `send-${tenant}`, ["ingest"], tenant);
      tokens[`read-${tenant}`] = token(world, file, `read-${tenant}`, ["query"], tenant);
      tokens[`label-${tenant}`] = token(world, file, `label-${tenant}`, ["review"], tenant);
    }
    tokens.chief = token(world, file, "chief", ["admin"]);
    return { server: `tokens_file = "${file}"` };
  };
  return { tokens, more };
}

async function logIn(page, text) {
  await page.fill("#token", text);
  await page.keyboard.press("Enter");
  await page.locator("#token").waitFor({ state: "hidden" });
}

const logOut = async (page) => {
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForSelector("#token");
};

/** Who holds the token sees this service and not that one, on the page and by the other's address. */
async function sees(page, base, own, other) {
  await page.goto(`${base}/explore#range=1h`);
  await page.getByText(`shop of ${own}`).first().waitFor();
  assert.equal(await page.getByText(`shop of ${other}`).count(), 0, `${own} sees nothing of ${other}`);
  await page.goto(`${base}/trace/${trace[other]}`);
  await page.getByText("This trace is not here").waitFor();
  await page.goto(`${base}/trace/${trace[own]}`);
  await page.getByRole("treegrid").waitFor();
}

export async function tokensAndTenants(page, world) {
  const { tokens, more } = everybody(world);
  await withServer(world, more, async ({ base, otlp }) => {
    for (const tenant of ["a", "b"]) await send(otlp, `shop of ${tenant}`, [{ trace: trace[tenant], id: tenant.repeat(16), name: "chat" }], tokens[`send-${tenant}`]);
    await page.goto(`${base}/explore#range=1h`);
    await page.waitForSelector("#token");
    assert.deepEqual((await violations(page)).map((each) => each.id), []);
    await page.fill("#token", "wrong");
    await page.keyboard.press("Enter");
    await page.getByText("not known here").waitFor();
    await logIn(page, tokens["read-a"]);
    await until("the span of a is there", async () => {
      await page.getByRole("button", { name: "Refresh" }).click();
      await settled(page);
      return (await page.getByText("shop of a").count()) > 0;
    });
    await sees(page, base, "a", "b");
    await kept(page, base, tokens["read-a"]);
    await logOut(page);
    assert.equal((await page.context().cookies(base)).length, 0, "the session is over");
    await logIn(page, tokens["read-b"]);
    await sees(page, base, "b", "a");
    await logOut(page);
    await logIn(page, tokens.chief);
    await both(page, base);
    await logOut(page);
    await logIn(page, tokens["label-a"]);
    await page.waitForFunction(() => location.pathname === "/review");
    assert.equal(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").count(), 1, "who labels sees that page alone");
  });
}

/** The session is a cookie that no script reads; the token is nowhere. */
async function kept(page, base, text) {
  const [cookie, ...others] = await page.context().cookies(base);
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path, others.length], [true, "Strict", "/", 0]);
  const readable = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href + document.cookie + document.documentElement.outerHTML);
  assert.ok(!readable.includes(text) && !readable.includes(cookie.value), "neither token nor session can be read");
}

/** An admin sees both, or the one that is chosen. */
async function both(page, base) {
  await page.goto(`${base}/explore#range=1h`);
  for (const tenant of ["a", "b"]) await page.getByText(`shop of ${tenant}`).first().waitFor();
  await page.getByRole("combobox", { name: "Tenant" }).selectOption("b");
  await settled(page);
  await page.getByText("shop of a").first().waitFor({ state: "detached" });
  await page.getByText("shop of b").first().waitFor();
}
