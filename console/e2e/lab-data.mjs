// Datasets and experiments for the tests of the lab.

export async function post(base, path, body) {
  const response = await fetch(base + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

export const CAPITALS = [["France", "Paris"], ["Spain", "Madrid"], ["Italy", "Rome"], ["Japan", "Tokyo"]];

/** An experiment with these answers; each is right where it is what is expected, by the place of its item. */
export async function experiment(base, dataset, name, answers, baseline, expected = CAPITALS.map(([, capital]) => capital)) {
  const { experiment_id: id } = await post(base, "/v1/lab/experiments", { name, dataset, target: { kind: "existing" }, evaluators: [], repetitions: 1, baseline });
  const todo = await (await fetch(`${base}/v1/lab/experiments/${id}/todo`)).json();
  const answer = ({ item_id, repetition, attempt, external_id: at }) => {
    const right = answers[Number(at)] === expected[Number(at)];
    return { item_id, repetition, attempt, output: `The capital is ${answers[Number(at)]}.`, scores: [{ name: "right", value: right ? 1 : 0, passed: right, rationale: "held against what is expected" }] };
  };
  await post(base, `/v1/lab/experiments/${id}/runs`, todo.map(answer));
  return id;
}
