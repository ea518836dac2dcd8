// The confusion matrix of one experiment: rows were expected, columns were answered.
import { useMemo } from "preact/hooks";
import { rowsOf } from "../lib/api";
import { type Class, type Confusion, confusionOf } from "../lib/confusion";
import { count, rate } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { bind } from "../lib/statement";
import { line } from "../lib/text";
import { Panel } from "../ui/panel";
import C36 from "../../sql/C36.sql";

/** Most classes that a table shows; SQL has all. */
const MOST = 20;

export function ConfusionMatrix({ id, name }: { id: string; name: string }) {
  const bound = useMemo(() => bind(C36, { experiment: id }), [id]);
  const asked = useAsk(bound);
  return (
    <Panel title={`Expected against answered in ${line(name, 60)}`} sub="counts of runs; rows were expected, columns answered" asked={asked} bound={bound} flush>
      {(table) => <Matrix confusion={confusionOf(rowsOf(table))} />}
    </Panel>
  );
}

function Matrix({ confusion }: { confusion: Confusion }) {
  const { classes, n } = confusion;
  const shown = classes.slice(0, MOST);
  if (n === 0) return <p class="empty">No run has a label yet.</p>;
  return (
    <>
      <div class="scroll" tabIndex={0} role="group" aria-label="Confusion matrix">
        <table class="quality">
          <thead><tr>
            <th scope="col">Expected</th>
            {shown.map(({ label }) => <th key={label} scope="col" class="num">{line(label, 24) || "(empty)"}</th>)}
            <th scope="col" class="num">n</th><th scope="col" class="num">Precision</th><th scope="col" class="num">Recall</th><th scope="col" class="num">F1</th>
          </tr></thead>
          <tbody>{shown.map((each) => <Line key={each.label} each={each} shown={shown} confusion={confusion} />)}</tbody>
        </table>
      </div>
      <p class="padded-line muted small">n {count(n)}; precision, recall and F1 are of these runs alone, without an interval.{classes.length > MOST && ` The ${MOST} most frequent of ${count(classes.length)} labels.`}</p>
    </>
  );
}

/** The shade says which part of the row a cell has; what is right stands out by its frame too. */
function Line({ each, shown, confusion }: { each: Class; shown: Class[]; confusion: Confusion }) {
  return (
    <tr>
      <th scope="row">{line(each.label, 40) || "(empty)"}</th>
      {shown.map(({ label }) => {
        const n = confusion.of(each.label, label);
        const share = each.expected === 0 ? 0 : Math.round((n / each.expected) * 100);
        const [tone, right] = label === each.label ? ["--good-soft", true] : ["--bad-soft", false];
        return (
          <td key={label} class="num" style={n === 0 ? {} : { background: `color-mix(in srgb, var(${tone}) ${share}%, transparent)` }}>
            {n === 0 ? <span class="muted">0</span> : right ? <strong>✓ {count(n)}</strong> : count(n)}
          </td>
        );
      })}
      <td class="num">{count(each.expected)}</td><td class="num">{rate(each.precision)}</td><td class="num">{rate(each.recall)}</td><td class="num">{rate(each.f1)}</td>
    </tr>
  );
}
