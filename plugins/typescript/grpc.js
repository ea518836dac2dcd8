// Answers over gRPC. Needs the packages @grpc/grpc-js and @grpc/proto-loader, which are there only where somebody installed them.

import { timingSafeEqual } from "node:crypto";
import { fileURLToPath } from "node:url";
import { hashed } from "./serve.js";

/** What a server of grpc.health.v1 says that is well. */
const SERVING = Buffer.from([8, 1]);

async function libraries() {
  try {
    return await Promise.all([import("@grpc/grpc-js"), import("@grpc/proto-loader")]);
  } catch (error) {
    throw new Error(`--grpc needs more packages: npm install @grpc/grpc-js @grpc/proto-loader (${error.message})`);
  }
}

/** A server that answers `Describe`, `Score` and the health check at `address`, and its port. */
export async function grpcServer(evaluator, protocol, address, maxMessage, token = null) {
  const [grpc, loader] = await libraries();
  const file = fileURLToPath(new URL("./evaluator.proto", import.meta.url));
  const definition = await loader.load(file, { keepCase: true, longs: Number, enums: String, oneofs: true });
  const { Evaluator } = grpc.loadPackageDefinition(definition).groundline.evaluator.v1;

  /** Answers a call, unless it is refused. */
  const answered = (answer) => (call, done) => {
    const [given] = call.metadata.get("authorization");
    if (token !== null && !timingSafeEqual(hashed(String(given ?? "")), hashed(`Bearer ${token}`))) {
      return done({ code: grpc.status.UNAUTHENTICATED, details: "the bearer token is missing or wrong" });
    }
    const spoken = call.request.protocol ?? 0;
    if (spoken !== protocol) {
      const details = `protocol ${spoken}: version ${protocol} is spoken`;
      return done({ code: grpc.status.FAILED_PRECONDITION, details });
    }
    const failed = (error) => done({ code: grpc.status.INTERNAL, details: String(error) });
    answer(call.request).then((message) => done(null, message), failed);
  };

  const server = new grpc.Server({
    "grpc.max_receive_message_length": maxMessage,
    "grpc.max_send_message_length": maxMessage,
  });
  server.addService(Evaluator.service, {
    Describe: answered(async () => description(evaluator.describe())),
    Score: answered(async ({ items = [] }) => {
      const answers = [];
      for (const item of items) answers.push(await evaluator.score(plain(item)));
      return { version: evaluator.version, answers };
    }),
  });
  const bytes = (message) => message;
  const check = {
    path: "/grpc.health.v1.Health/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  server.addService({ Check: check }, { Check: (call, done) => done(null, SERVING) });
  const port = await new Promise((bound, failed) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync(address, credentials, (error, port) => (error ? failed(error) : bound(port)));
  });
  return { server, port };
}

/** The description as its message. */
function description({ protocol, name, version, inputs, metrics }) {
  return {
    protocol,
    name,
    version,
    inputs: inputs.map((text) => ({ name: text.replace(/\?$/, ""), optional: text.endsWith("?") })),
    metrics: metrics.map(({ name, better, threshold }) => ({
      name,
      better: better === "lower" ? "DIRECTION_LOWER" : "DIRECTION_HIGHER",
      threshold,
    })),
  };
}

/** An item in the form of the JSON protocol: what was not sent is not in it. */
function plain({ contexts, constraints, steps, ...item }) {
  return {
    ...item,
    ...(steps?.length && { steps: steps.map(step) }),
    ...(contexts?.length && { contexts: contexts.map(context) }),
    ...(constraints?.length && { constraints: constraints.map(constraint) }),
  };
}

function context({ id = null, uri = null, text = null, rank = null, score = null, tenant = null, metadata }) {
  return { id, uri, text, rank, score, tenant, metadata: metadata == null ? null : JSON.parse(metadata) };
}

function step({ tool = "", arguments: given = null, result = null, failed = false }) {
  return { tool, arguments: given, result, failed };
}

function constraint({ text, any_of }) {
  return any_of ? (any_of.constraints ?? []).map(constraint) : (text ?? "");
}
