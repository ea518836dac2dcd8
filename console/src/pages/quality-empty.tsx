// A server without a span: how to send one, with this server's own address, and a check that turns green.
import { useEffect } from "preact/hooks";
import { type Asked, useJson } from "../lib/hooks";
import { Empty } from "../ui/panel";
import { CopyButton } from "../ui/parts";

interface Status {
  endpoints?: Array<{ door?: string; address?: string }>;
}

/** Where this server takes OTLP over HTTP, as its status says; the usual port where it does not. */
function receiver(status: Status | undefined): string {
  const door = status?.endpoints?.find((each) => /otlp.*http/i.test(each.door ?? ""));
  const port = /:([0-9]+)$/.exec(door?.address ?? "")?.[1] ?? "4318";
  return `http://${location.hostname}:${port}`;
}

function ways(base: string): ReadonlyArray<readonly [string, string]> {
  return [
    ["Python", `pip install opentelemetry-distro opentelemetry-exporter-otlp openinference-instrumentation-openai
OTEL_SERVICE_NAME=my-app OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_EXPORTER_OTLP_ENDPOINT=${base} \\
  opentelemetry-instrument python app.py`],
    ["Node", `npm install @opentelemetry/auto-instrumentations-node
OTEL_SERVICE_NAME=my-app OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_EXPORTER_OTLP_ENDPOINT=${base} \\
  node --require @opentelemetry/auto-instrumentations-node/register app.js`],
    ["curl", `now=$(date +%s)000000000
curl ${base}/v1/traces -H 'content-type: application/json' -d '{"resourceSpans":[{"resource":{"attributes":[
  {"key":"service.name","value":{"stringValue":"my-app"}}]},"scopeSpans":[{"spans":[{"traceId":"'$(openssl rand -hex 16)'",
  "spanId":"'$(openssl rand -hex 8)'","name":"chat","startTimeUnixNano":"'$now'","endTimeUnixNano":"'$now'"}]}]}]}'`],
  ];
}

export function FirstSpan({ asked }: { asked: Asked<unknown> }) {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || asked.retry(), 3000);
    return () => clearInterval(timer);
  }, []);
  const base = receiver(useJson<Status>("/v1/status").data);
  return (
    <section class="panel">
      <Empty title="No span has arrived yet">
        <p>Send one to this server. The page goes on by itself when the first is here.</p>
        <p role="status" class="chip warn">waiting for the first span</p>
        {ways(base).map(([name, text]) => (
          <div key={name} class="way">
            <div class="row"><h2>{name}</h2><CopyButton text={text} what={name} label="Copy" /></div>
            <pre class="code">{text}</pre>
          </div>
        ))}
      </Empty>
    </section>
  );
}
