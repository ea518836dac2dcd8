"""Exports spans with unique numbers through the OpenTelemetry SDK for Python as it is, and writes what became of each.

    python export.py grpc|http ENDPOINT COUNT SECONDS OUTPUT

One line a span: its trace id, span id, and SUCCESS or FAILURE as the exporter reported it.
"""

import sys
import time

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

# Longer than every restart and overload of the test together.
PATIENCE_S = 120


class Recorder(SpanExporter):
    """Hands every batch on to the real exporter and notes its answer."""

    def __init__(self, inner, output):
        self.inner, self.output = inner, output

    def export(self, spans):
        result = self.inner.export(spans)
        for span in spans:
            context = span.get_span_context()
            self.output.write(f"{context.trace_id:032x} {context.span_id:016x} {result.name}\n")
        self.output.flush()
        return result

    def shutdown(self):
        self.inner.shutdown()

    def force_flush(self, timeout_millis=30000):
        return self.inner.force_flush(timeout_millis)


def exporter(protocol, endpoint):
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(endpoint=endpoint, insecure=True, timeout=PATIENCE_S)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=PATIENCE_S)


def main():
    protocol, endpoint, count, seconds, path = sys.argv[1:]
    count, seconds = int(count), float(seconds)
    with open(path, "w") as output:
        provider = TracerProvider(resource=Resource.create({"service.name": f"sdk-python-{protocol}"}))
        processor = BatchSpanProcessor(
            Recorder(exporter(protocol, endpoint), output),
            max_queue_size=count + 1,
            schedule_delay_millis=100,
            max_export_batch_size=64,
        )
        provider.add_span_processor(processor)
        tracer = provider.get_tracer("test")
        started = time.monotonic()
        for number in range(count):
            with tracer.start_as_current_span(f"work {number}") as span:
                span.set_attribute("number", number)
                span.set_attribute("payload", f"{number} " * 50)
            time.sleep(max(0.0, started + seconds * (number + 1) / count - time.monotonic()))
        provider.force_flush(PATIENCE_S * 1000)
        provider.shutdown()


main()
