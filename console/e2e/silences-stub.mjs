// Answers /v1/alerts/silences in the server's place, for one page: what it was asked is kept.
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `there` are silences that stand already, such as those of a configuration. */
export async function stubSilences(page, there) {
  const kept = [...there];
  const asked = [];
  await page.route("**/v1/alerts/silences", async (route) => {
    const request = route.request();
    if (request.method() === "GET") return route.fulfill({ json: { silences: kept } });
    const sent = request.postDataJSON();
    asked.push(sent);
    const [, length, unit] = /^(\d+)([mhd])$/.exec(sent.for);
    const made = {
      id: `made-${kept.length}`, alert: sent.alert, slice: sent.slice, since: new Date().toISOString(), by: sent.by, comment: sent.comment, source: "http",
      until: new Date(Date.now() + Number(length) * UNITS[unit]).toISOString(),
    };
    kept.push(made);
    return route.fulfill({ status: 201, json: made });
  });
  await page.route("**/v1/alerts/silences/*", async (route) => {
    const id = decodeURIComponent(new URL(route.request().url()).pathname.split("/").pop());
    const at = kept.findIndex((each) => each.id === id);
    asked.push({ deleted: id });
    if (route.request().method() !== "DELETE" || at < 0) return route.fulfill({ status: 404, json: { error: "no such silence" } });
    kept.splice(at, 1);
    return route.fulfill({ status: 204 });
  });
  return { kept, asked };
}
