// A server without a span: how to send one, with this server's own address, and a check that turns green.
import { useEffect } from "preact/hooks";
import type { Asked } from "../lib/hooks";
import { Empty } from "../ui/panel";
import { CopyButton } from "../ui/parts";

function ways(): ReadonlyArray<readonly [string, string]> {
  const base = `http://${location.hostname}:4318`;
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
  return (
    <section class="panel">
      <Empty title="No span has arrived yet">
        <p>Send one to this server. The page goes on by itself when the first is here.</p>
        <p role="status" class="chip warn">waiting for the first span</p>
        {ways().map(([name, text]) => (
          <div key={name} class="way">
            <div class="row"><h2>{name}</h2><CopyButton text={text} what={name} label="Copy" /></div>
            <pre class="code">{text}</pre>
          </div>
        ))}
        <p class="small">4318 is the usual port of OTLP/HTTP; System shows this server's own configuration.</p>
      </Empty>
    </section>
  );
}
