// Exports spans with unique numbers through the OpenTelemetry SDK for Node as it is, and writes what became of each.
//
//     node export.js MODULES ENDPOINT COUNT SECONDS OUTPUT
//
// One line a span: its trace id, span id, and SUCCESS or FAILURE as the exporter reported it.

const fs = require('node:fs');
const { createRequire } = require('node:module');
const [modules, endpoint, count, seconds, path] = process.argv.slice(2);
const load = createRequire(`${modules}/`);
const { BasicTracerProvider, BatchSpanProcessor } = load('@opentelemetry/sdk-trace-base');
const { OTLPTraceExporter } = load('@opentelemetry/exporter-trace-otlp-proto');
const { resourceFromAttributes } = load('@opentelemetry/resources');

// Longer than every restart and overload of the test together.
const PATIENCE_MS = 120_000;

class Recorder {
  constructor(inner, output) {
    Object.assign(this, { inner, output });
  }
  export(spans, done) {
    this.inner.export(spans, (result) => {
      for (const span of spans) {
        const { traceId, spanId } = span.spanContext();
        fs.writeSync(this.output, `${traceId} ${spanId} ${result.code === 0 ? 'SUCCESS' : 'FAILURE'}\n`);
      }
      done(result);
    });
  }
  forceFlush() {
    return this.inner.forceFlush();
  }
  shutdown() {
    return this.inner.shutdown();
  }
}

async function main() {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: PATIENCE_MS });
  const processor = new BatchSpanProcessor(new Recorder(exporter, fs.openSync(path, 'w')), {
    maxQueueSize: Number(count) + 1,
    maxExportBatchSize: 64,
    scheduledDelayMillis: 100,
    exportTimeoutMillis: PATIENCE_MS,
  });
  const resource = resourceFromAttributes({ 'service.name': 'sdk-node' });
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  const tracer = provider.getTracer('test');
  for (let number = 0; number < Number(count); number += 1) {
    const span = tracer.startSpan(`work ${number}`);
    span.setAttribute('number', number);
    span.setAttribute('payload', `${number} `.repeat(50));
    span.end();
    await new Promise((wake) => setTimeout(wake, (1000 * Number(seconds)) / Number(count)));
  }
  await provider.forceFlush();
  await provider.shutdown();
}

main();
