// The console of one page: a query, its rows, and a login where the server has tokens.
const examples = {
  "Quality by service": "SELECT service_name, evaluator, metric,\n  quality_rate(passed, inclusion_probability)['estimate'] AS pass_rate,\n  quality_rate(passed, inclusion_probability)['lower'] AS lower,\n  quality_rate(passed, inclusion_probability)['upper'] AS upper,\n  count(*) AS n\nFROM scores_latest WHERE status = 'ok' AND passed IS NOT NULL\nGROUP BY 1, 2, 3 ORDER BY pass_rate LIMIT 100",
  "Least grounded": "SELECT s.value, s.rationale, t.question, t.answer, s.trace_id\nFROM scores_latest s JOIN traces t USING (trace_id)\nWHERE s.metric = 'groundedness' AND s.status = 'ok'\nORDER BY s.value LIMIT 20",
  "Leaks": "SELECT evaluated_at, service_name, evaluator, label, rationale, trace_id\nFROM scores_latest WHERE passed = false AND evaluator LIKE '%leakage'\nORDER BY evaluated_at DESC LIMIT 50",
  "Latest traces": "SELECT * FROM traces ORDER BY start_time DESC LIMIT 50",
  "Tokens by model": "SELECT request_model, count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,\n  approx_percentile_cont(duration_ns / 1e6, 0.95) AS p95_ms\nFROM spans WHERE operation = 'llm' GROUP BY 1 ORDER BY calls DESC",
  "Decisions": "SELECT rule, decision, count(*) AS traces FROM decisions GROUP BY 1, 2 ORDER BY 1, 2",
};
const $ = (id) => document.getElementById(id);

async function send(path, body, accept) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", accept: accept ?? "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const said = text === "" ? {} : JSON.parse(text);
  if (response.ok) return said;
  if (response.status === 401 && path !== "/login") show("login");
  throw new Error(said.error ?? response.statusText);
}

function tell(text, wrong) {
  for (const status of document.querySelectorAll(".status")) {
    status.textContent = text;
    status.classList.toggle("wrong", wrong === true);
  }
}

function show(part) {
  $("login").hidden = part !== "login";
  $("query").hidden = part !== "query";
}

async function run() {
  tell("running");
  try {
    const query = { query: $("sql").value, limit: 10000 };
    const table = await send("/v1/sql", query, "application/json; shape=columns");
    fill(table);
    const cut = table.limit === undefined ? "" : ", the rest is cut off";
    tell(`${table.rows} rows in ${table.elapsed_ms} ms${cut}`);
  } catch (error) {
    $("rows").replaceChildren();
    tell(error.message, true);
  }
}

function fill(table) {
  const head = document.createElement("tr");
  for (const column of table.columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = column.name;
    head.append(cell);
  }
  const rows = [head];
  for (let at = 0; at < table.rows; at++) {
    const row = document.createElement("tr");
    table.columns.forEach((column, number) => row.append(cellOf(column.name, table.data[number][at])));
    rows.push(row);
  }
  $("rows").replaceChildren(...rows);
}

function cellOf(name, value) {
  const cell = document.createElement("td");
  if (value === null) {
    cell.className = "null";
    cell.textContent = "NULL";
  } else if (typeof value === "number" && /rate|estimate|value/.test(name) && value >= 0 && value <= 1) {
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.style.width = `${value * 5}em`;
    cell.append(bar, value.toFixed(3));
  } else {
    cell.textContent = typeof value === "object" ? JSON.stringify(value) : String(value);
  }
  return cell;
}

async function begin() {
  const response = await fetch("/v1/me");
  if (response.status === 401) return show("login");
  const me = await response.json();
  if (!response.ok) return tell(me.error ?? response.statusText, true);
  $("leave").hidden = !me.needs_token;
  show("query");
  await run();
}

for (const [name, sql] of Object.entries(examples)) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name;
  button.addEventListener("click", () => {
    $("sql").value = sql;
    run();
  });
  $("examples").append(button);
}
$("sql").value = Object.values(examples)[0];
$("run").addEventListener("click", run);
$("sql").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
$("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await send("/login", { token: $("token").value.trim() });
    $("token").value = "";
    tell("");
    await begin();
  } catch (error) {
    tell(error.message, true);
  }
});
$("leave").addEventListener("click", async () => {
  await send("/logout", {}).catch((error) => tell(error.message, true));
  location.reload();
});
begin().catch((error) => tell(error.message, true));
