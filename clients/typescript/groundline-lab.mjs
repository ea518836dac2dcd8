// Experiments of Groundline from a script: one file for Node 20 or later, without dependencies. Copy it, and its types.
//
//   import { Lab } from "./groundline-lab.mjs";
//
//   const isShort = ({ output }) => output.length < 200; // a score of your own: client/isShort
//   const experiment = await new Lab().experiment("v2", { dataset: "refunds", evaluators: ["hallucination", isShort] });
//   console.log(String(await experiment.run(({ input }) => myApp(input.question), { concurrency: 8 })));
//   console.log(String(await experiment.compare("v1")));
//
// A script that was stopped is started again: an unfinished experiment of the same name and definition goes on where it was.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";

/** Runs that are looked up at once, the most that the server tells. */
const PAGE = 1000;
/** Answers that are sent at once, and how much they may weigh together, characters. */
const BATCH = 16;
const BATCH_LENGTH = 4 << 20;
/** How long an answer waits for others that are sent with it, milliseconds. */
const LINGER = 1000;
/** How often a request is sent that is answered "later" or not at all, and the longest wait between, milliseconds. */
const ATTEMPTS = 10;
const MAX_WAIT = 10_000;
/** Most calls of the function at once. */
const MAX_CONCURRENCY = 256;
/** How long git may take to tell the commit, milliseconds, and the most that it says, bytes. */
const GIT_PATIENCE = 10_000;
const GIT_MOST = 64 << 20;
/** What git tells the programs of its hooks: it would name their repository. */
const OF_HOOKS = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];
/** What an answer may have beside its output; an object with other keys is an output itself. */
const ANSWER = new Set([
  "output", "error", "contexts", "output_context", "in_tokens", "out_tokens", "input_tokens", "output_tokens", "cost_usd",
  "duration", "duration_ms", "finish_reason", "trace_id", "span_id",
]);
/** What a score may be beside a number or a verdict. */
const SCORE = new Set(["value", "label", "passed", "rationale", "error", "skipped"]);
/** Where a request was surely not taken. */
const NOT_TAKEN = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** What the server refused, with its status; 0 if it was not reached. */
export class LabError extends Error {
  constructor(message, status = 0, faults = []) {
    super(faults.slice(0, 10).map((fault) => `${fault.column ?? "it"}: ${fault.message}`).join("; ") || message);
    this.name = "LabError";
    this.status = status;
    this.faults = faults;
  }
}

/** What the server answered, as it came. As a text it is a table. */
export class Told {
  constructor(told) {
    Object.assign(this, told);
  }

  /** The metric of that name, such as `{ passed: { estimate, lower, upper }, value: … }`. */
  metric(name) {
    const { metrics } = this.summary ?? this.comparison;
    const found = metrics.find((metric) => metric.metric === name);
    if (!found) throw new RangeError(`there is no metric ${name}; there are ${metrics.map((one) => one.metric).join(", ")}`);
    return found;
  }

  toString() {
    return this.summary ? summary(this) : comparison(this);
  }
}

/** A server. The token needs the roles `lab` and `query`; without one GROUNDLINE_TOKEN is taken. */
export class Lab {
  #token;

  constructor({ url = "http://127.0.0.1:4320", token, tenant, timeout = 660_000 } = {}) {
    if (!/^https?:\/\//.test(url)) throw new TypeError(`${url} is no address; it begins with http:// or https://`);
    this.url = url.replace(/\/+$/, "");
    this.tenant = tenant;
    this.timeout = timeout;
    this.#token = token ?? process.env.GROUNDLINE_TOKEN;
  }

  async experiment(name, options) {
    const { data, evaluators = [], repetitions = 1, parameters = {}, target = {}, tags = [], baseline = false } = options;
    if ((options.dataset == null) === (data == null)) throw new TypeError("give dataset or data, and not both");
    const dataset = options.dataset ?? (await this.#local(data));
    const scores = evaluators.filter((one) => typeof one === "function");
    const names = scores.map(nameOf);
    if (new Set(names).size !== names.length) throw new TypeError(`two scores have one name: ${names.join(", ")}`);
    const ids = evaluators.filter((one) => typeof one === "string");
    const of = { ...(await revised(target)), kind: "function" };
    const wanted = { name, dataset, target: of, parameters, evaluators: ids, repetitions, tags, baseline };
    const found = (options.resume ?? true) ? await this.#unfinished(wanted) : null;
    const made = found ?? (await this.ask("POST", "experiments", { body: wanted, isRepeatable: false })).experiment_id;
    return new Experiment(this, made, scores);
  }

  async open(nameOrId, evaluators = []) {
    const found = await this.ask("GET", `experiments/${encodeURIComponent(nameOrId)}`);
    return new Experiment(this, found.experiment_id, evaluators);
  }

  /** A dataset of these items. Its name is made of them: the same items are the same dataset. */
  async #local(data) {
    const isItem = (item) => item !== null && typeof item === "object" && "input" in item;
    const lines = data.map((item) => JSON.stringify(isItem(item) ? item : { input: item }));
    const name = `adhoc/${createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 12)}`;
    // The same item twice is two items: a script counts what it was given.
    const params = { create: true, replace: true, keep_duplicates: true, format: "jsonl" };
    const text = lines.map((line) => `${line}\n`).join("");
    await this.ask("POST", `datasets/${encodeURIComponent(name)}/import`, { params, text });
    return name;
  }

  async #unfinished(wanted) {
    let found, head;
    try {
      found = await this.ask("GET", `experiments/${encodeURIComponent(wanted.name)}`);
      head = await this.ask("GET", `datasets/${encodeURIComponent(wanted.dataset)}`);
    } catch (error) {
      if (error.status === 404) return null;
      throw error;
    }
    const ids = found.evaluators.map((one) => one.id);
    const isSame =
      ["pending", "running", "paused"].includes(found.status) &&
      found.dataset_id === head.dataset_id &&
      found.dataset_version === head.version &&
      canonical(unrevised(found.target)) === canonical(unrevised(wanted.target)) &&
      canonical(found.parameters ?? {}) === canonical(wanted.parameters) &&
      canonical(ids.sort()) === canonical([...wanted.evaluators].sort()) &&
      found.repetitions === wanted.repetitions;
    if (!isSame) return null;
    const [was, now] = [revision(found.target), revision(wanted.target)];
    if (was !== now) console.error(`groundline: ${wanted.name} was begun at ${was} and goes on at ${now}; resume: false begins another`);
    return found.experiment_id;
  }

  /**
   * What a route below /v1/lab answers. It is asked again while it says "later", or is away; a request that is not repeatable
   * only where it was surely not taken.
   */
  async ask(method, path, { params = {}, body, text, isRepeatable = true } = {}) {
    const url = new URL(`${this.url}/v1/lab/${path}`);
    for (const [key, value] of Object.entries({ ...params, tenant: this.tenant })) {
      if (value != null) url.searchParams.set(key, value);
    }
    const headers = this.#token ? { authorization: `Bearer ${this.#token}` } : {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (text !== undefined) headers["content-type"] = "application/x-ndjson";
    const sent = body === undefined ? text : JSON.stringify(body);
    for (let attempt = 1; ; attempt++) {
      let error, isLater;
      let pause = Math.min(MAX_WAIT, 250 * 2 ** (attempt - 1));
      try {
        // A token is not carried to another address.
        const options = { method, headers, body: sent, redirect: "manual", signal: AbortSignal.timeout(this.timeout) };
        const response = await fetch(url, options);
        const said = await response.text();
        if (response.ok) return read(url, said);
        error = refused(url, response.status, said);
        isLater = [429, 503].includes(error.status) || (isRepeatable && [408, 425, 502, 504].includes(error.status));
        pause = Math.max(pause, Math.min(MAX_WAIT, 1000 * (Number(response.headers.get("retry-after")) || 0)));
      } catch (away) {
        if (away instanceof LabError) throw away;
        const code = away.cause?.code ?? away.cause?.errors?.[0]?.code;
        error = new LabError(`${url}: ${away.cause?.message || code || away.message}; is the server running? (groundline serve)`);
        isLater = (isRepeatable || NOT_TAKEN.has(code)) && !String(code).startsWith("ERR_TLS");
      }
      if (!isLater || attempt === ATTEMPTS) throw error;
      await new Promise((waited) => setTimeout(waited, pause));
    }
  }
}

/** An experiment of the server, and the scores of your own. */
export class Experiment {
  #path;
  #scores;

  constructor(lab, experimentId, scores = []) {
    this.lab = lab;
    this.experimentId = experimentId;
    this.#path = `experiments/${encodeURIComponent(experimentId)}`;
    this.#scores = scores.map((score) => ({ name: nameOf(score), score }));
  }

  async run(answer, { concurrency = 4, timeout, retry, maxCost = Infinity, signal, progress } = {}) {
    if (!(concurrency >= 1 && concurrency <= MAX_CONCURRENCY)) {
      throw new RangeError(`concurrency is ${concurrency}; it may be 1 to ${MAX_CONCURRENCY}`);
    }
    const work = { answer, scores: this.#scores, timeout, signal, concurrency, maxCost };
    const sender = new Sender(this.lab, this.#path, progress ?? process.stderr.isTTY === true);
    const seen = new Set();
    let isStopped = false;
    while (!isStopped) {
      const params = { limit: PAGE, retry, expected: this.#scores.length > 0 ? true : undefined };
      const told = await this.lab.ask("GET", `${this.#path}/todo`, { params });
      // What was refused, or failed again, would come for ever.
      const page = told.filter((run) => !seen.has(run.run_id));
      page.forEach((run) => seen.add(run.run_id));
      if (page.length === 0) break;
      isStopped = await ask(page, work, sender);
      if (retry) break;
    }
    if (isStopped) await this.lab.ask("PATCH", this.#path, { body: { status: "paused" } });
    signal?.throwIfAborted();
    return this.summary();
  }

  async summary(weights = "items") {
    return new Told(await this.lab.ask("GET", `${this.#path}/summary`, { params: { weights } }));
  }

  async compare(baseline) {
    return new Told(await this.lab.ask("GET", "compare", { params: { new: this.experimentId, baseline } }));
  }

  async markBaseline() {
    await this.lab.ask("PATCH", this.#path, { body: { baseline: true } });
  }

  async cancel() {
    await this.lab.ask("PATCH", this.#path, { body: { status: "cancelled" } });
  }
}

/** Asks and sends the runs of a page; whether it stopped before its end. */
async function ask(page, work, sender) {
  let next = 0;
  const isStopped = () => work.signal?.aborted || sender.cost >= work.maxCost || sender.failed !== undefined;
  const worker = async () => {
    while (next < page.length && !isStopped()) {
      sender.take(await called(page[next++], work));
      await sender.due();
    }
  };
  await Promise.all(Array.from({ length: Math.min(work.concurrency, page.length) }, worker));
  await sender.flush();
  return next < page.length;
}

/** Asks the function for one run, and the scores about its answer. What the user's code throws is the run's error. */
async function called(run, { answer, scores, timeout, signal }) {
  const started = performance.now();
  let sent;
  try {
    const { expected, metadata, ...given } = run;
    sent = answered(await within(timeout, signal, (ends) => answer({ ...given, signal: ends })));
  } catch (error) {
    sent = { error: String(error) };
  }
  sent.duration_ms ??= performance.now() - started;
  const { item_id, repetition, attempt, run_id } = run;
  Object.assign(sent, { item_id, repetition, attempt, run_id });
  if (sent.error === undefined && scores.length > 0) {
    const known = { ...run, output: sent.output, contexts: sent.contexts ?? run.contexts, answer: { ...sent } };
    sent.scores = await Promise.all(scores.map((one) => scored(one, known)));
  }
  return sent;
}

/** What `work` promises, if it comes in time. It is told by its signal when nobody waits for it any more. */
async function within(timeout, signal, work) {
  const ends = AbortSignal.any([signal, timeout && AbortSignal.timeout(timeout)].filter(Boolean));
  if (!timeout) return work(ends);
  let late;
  const over = new Promise((_, failed) => {
    // Only the own clock ends it here: who stops the whole waits for what is being answered.
    late = setTimeout(() => failed(new Error(`no answer within ${timeout} ms`)), timeout);
  });
  try {
    return await Promise.race([work(ends), over]);
  } finally {
    clearTimeout(late);
  }
}

async function scored({ name, score }, known) {
  try {
    const said = await score(known);
    if (typeof said === "boolean") return { name, passed: said, value: said ? 1 : 0 };
    if (typeof said === "number") {
      if (!Number.isFinite(said)) throw new RangeError(`the value is ${said}, which is no finite number`);
      return { name, value: said };
    }
    const keys = said !== null && typeof said === "object" ? Object.keys(said) : [];
    if (keys.length > 0 && keys.every((key) => SCORE.has(key))) return { ...said, name };
    throw new TypeError(`${said} is no number, boolean or object of ${[...SCORE].join(", ")}`);
  } catch (error) {
    return { name, error: String(error) };
  }
}

/** What is there of an answer. The server takes milliseconds, and keeps no reason why a model stopped. */
function known({ duration, finish_reason, ...said }) {
  const sent = Object.fromEntries(Object.entries(said).filter(([, value]) => value != null));
  if (Number.isFinite(duration) && duration >= 0) sent.duration_ms ??= duration * 1e3;
  return sent;
}

function answered(said) {
  const keys = said !== null && typeof said === "object" ? Object.keys(said) : [];
  const isAnswer = keys.every((key) => ANSWER.has(key)) && keys.some((key) => key === "output" || key === "error");
  const sent = isAnswer ? known(said) : { output: said };
  if (sent.error !== undefined) return { ...sent, error: String(sent.error) };
  if (sent.output == null) return { error: `the function returned ${said === null ? "null" : typeof said}` };
  // What cannot be sent is this run's fault, and not that of those which are sent with it.
  if (JSON.stringify(sent) === undefined) return { error: `${typeof said} is no JSON` };
  return sent;
}

/** Answers on their way to the server, some at once. */
class Sender {
  batch = [];
  length = 0;
  cost = 0;
  stored = 0;
  failed;
  #sentAt = performance.now();
  #sending = Promise.resolve();

  constructor(lab, path, isShown) {
    Object.assign(this, { lab, path, isShown });
  }

  take(answer) {
    this.batch.push(answer);
    this.length += JSON.stringify(answer).length;
    this.cost += answer.cost_usd ?? 0;
  }

  /** Sends what is there if it is much, or has waited. */
  async due() {
    const isFull = this.batch.length >= BATCH || this.length >= BATCH_LENGTH;
    if (isFull || performance.now() - this.#sentAt >= LINGER) await this.flush();
  }

  /** When it returns, what was answered before is stored and scored. One request after the other. */
  flush() {
    this.#sending = this.#sending.then(() => this.#send());
    return this.#sending;
  }

  async #send() {
    if (this.failed !== undefined) throw this.failed;
    if (this.batch.length === 0) return;
    const body = this.batch;
    [this.batch, this.length, this.#sentAt] = [[], 0, performance.now()];
    let told;
    try {
      told = await this.lab.ask("POST", `${this.path}/runs`, { body });
    } catch (error) {
      this.failed = error;
      throw error;
    }
    for (const refused of told.refused ?? []) console.error(`groundline: refused: ${refused.column ?? ""}: ${refused.message}`);
    this.stored += told.stored;
    if (this.isShown) {
      process.stderr.write(`\r${this.stored} runs stored, ${told.missing} missing ${told.missing === 0 ? "\n" : ""}`);
    }
  }
}

/** The target with its commit. Where it tells one, without git, outside of a repository and before its first commit as it is. */
async function revised(target) {
  const commit = "git_commit" in target ? null : await git("rev-parse", "--verify", "HEAD");
  if (!commit || !/^[0-9a-f]+$/.test(commit)) return target;
  // Reports and environments that a build makes are untracked, and are no change of the application.
  const changed = await git("status", "--porcelain", "--untracked-files=no");
  return { ...target, git_commit: commit, ...(changed === null ? {} : { git_dirty: changed !== "" }) };
}

function unrevised({ git_commit, git_dirty, ...target }) {
  return target;
}

function revision({ git_commit, git_dirty }) {
  return git_commit ? `commit ${String(git_commit).slice(0, 12)}${git_dirty ? " with changes" : ""}` : "a commit that is not known";
}

/** What git says; null where it is not there, refuses, or does not answer. It starts no program of the repository's settings. */
function git(...words) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_HOOKS.includes(name)));
  const options = { env, timeout: GIT_PATIENCE, maxBuffer: GIT_MOST, windowsHide: true };
  return new Promise((told) => {
    const given = ["--no-optional-locks", "-c", "core.fsmonitor=false", ...words];
    execFile("git", given, options, (error, said) => told(error ? null : said.trim()));
  });
}

function nameOf(score) {
  if (!score.name) throw new TypeError("a score needs a name: give the function one");
  return score.name;
}

function read(url, text) {
  try {
    return JSON.parse(text || "null");
  } catch (wrong) {
    throw new LabError(`${url}: the answer is no JSON: ${wrong.message}; is this Groundline's HTTP port?`);
  }
}

function refused(url, status, text) {
  try {
    const body = JSON.parse(text);
    if (typeof body.error === "string") return new LabError(body.error, status, body.faults);
  } catch {
    // What is no JSON is told as it is.
  }
  return new LabError(`${url}: ${status} ${text.slice(0, 200)}`.trim(), status);
}

/** JSON with sorted keys. */
function canonical(value) {
  const isObject = (one) => one !== null && typeof one === "object" && !Array.isArray(one);
  const sorted = (_, one) => (isObject(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one);
  return JSON.stringify(value, sorted);
}

function number(value) {
  return value == null ? "-" : value.toFixed(3);
}

function estimate(value) {
  return value == null ? "-" : `${number(value.estimate)} [${number(value.lower)}, ${number(value.upper)}]`;
}

function table(rows) {
  const texts = rows.map((row) => row.map((cell) => String(cell ?? "")));
  const widths = texts[0].map((_, at) => Math.max(...texts.map((row) => row[at].length)));
  return texts.map((row) => row.map((cell, at) => cell.padEnd(widths[at])).join("  ").trimEnd()).join("\n");
}

function summary({ experiment, summary: { done, runs, items, errors, metrics } }) {
  const head = `${experiment.name}: ${experiment.status}, ${done} of ${runs} runs over ${items} items, ${errors} without an answer`;
  if (metrics.length === 0) return head;
  const cells = ({ metric, passed, value, scores, errors, skipped }) => {
    return [metric, estimate(passed), estimate(value), scores, errors, skipped];
  };
  return `${head}\n\n${table([["metric", "passed", "value", "scores", "errors", "skipped"], ...metrics.map(cells)])}`;
}

function comparison({ new: { name }, baseline, comparison: { paired, unpaired, unchanged, metrics, items } }) {
  const head =
    `${name} against ${baseline.name}: ${paired} items in both, ${unpaired} in one only or changed, ${unchanged} unchanged`;
  const cells = (one) => {
    const difference = estimate({ estimate: one.difference, lower: one.lower, upper: one.upper });
    const sides = [number(one.baseline), number(one.new)];
    return [one.metric, one.measure, ...sides, difference, number(one.p), number(one.p_adjusted), one.verdict];
  };
  const names = ["metric", "measure", "baseline", "new", "difference", "p", "adjusted", "verdict"];
  const question = (item) => (item.question ?? "").split(/\s+/u).join(" ").slice(0, 100);
  const moved = items.slice(0, 20).map((item) => `${item.kind}: ${item.external_id ?? item.item_id} ${question(item)}`.trimEnd());
  return [head, "", table([names, ...metrics.map(cells)]), ...(moved.length > 0 ? [""] : []), ...moved].join("\n");
}
