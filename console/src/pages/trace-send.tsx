// "Send to review": what an evaluator judged here goes to the queue of items that people label.
import { useMemo, useState } from "preact/hooks";
import { Fault, type Row, postJson } from "../lib/api";
import { hrefOf } from "../lib/store";
import { line, visible } from "../lib/text";
import { FaultBox, Modal } from "../ui/panel";
import { Link } from "../ui/parts";

interface SendProps {
  trace: string;
  span: string;
  scores: readonly Row[];
}

interface Sent {
  metric: string;
  state: string;
  is_new: boolean;
}

export function SendToReview({ trace, span, scores }: SendProps) {
  const [open, setOpen] = useState(false);
  const metrics = useMemo(() => {
    const judged = scores.filter((row) => row.span_id === span && row.status === "ok" && row.passed !== null);
    return [...new Set(judged.map((row) => String(row.metric)))].sort();
  }, [scores, span]);
  if (metrics.length === 0) return null;
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>Send to review</button>
      {open && <Modal title="Send to review" close={() => setOpen(false)}><Body trace={trace} span={span} metrics={metrics} /></Modal>}
    </>
  );
}

function Body({ trace, span, metrics }: { trace: string; span: string; metrics: string[] }) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | undefined>();
  const [sent, setSent] = useState<Sent | undefined>();
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const metric = String(new FormData(event.currentTarget as HTMLFormElement).get("metric"));
    setBusy(true);
    setFault(undefined);
    try {
      setSent((await postJson("/v1/labels/items", { metric, trace_id: trace, span_id: span })) as Sent);
    } catch (error) {
      setFault(error instanceof Fault ? error : new Fault("server", String(error)));
    }
    setBusy(false);
  };
  return (
    <form class="stack" aria-label="Send to review" onSubmit={(event) => void send(event)}>
      <p>Reviewers are asked about it without being told what the evaluator said. The label corrects no rate, because nobody drew it.</p>
      <div class="row">
        <label class="row small">Metric <select name="metric">{metrics.map((metric) => <option key={metric} value={metric}>{visible(metric)}</option>)}</select></label>
        <button type="submit" disabled={busy}>Send</button>
        {sent && <span role="status" class="good">✓ {TOLD[sent.state] ?? "it is there"}{sent.is_new ? "" : " already"}: <Link href={hrefOf("review", sent.metric)}>{line(sent.metric, 60)}</Link></span>}
      </div>
      {fault && <FaultBox fault={fault} />}
    </form>
  );
}

const TOLD: Record<string, string> = { open: "waits for an answer", adjudicate: "waits for a decision between answers", final: "has its label" };
