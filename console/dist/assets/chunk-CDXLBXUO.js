import{b as t,c as r}from"./chunk-6MUMULPB.js";function d({evaluator:e,version:n,from:o,to:a},i,s,u){let c=[`evaluator = ${t(e)}`,r("evaluator_version",n,!0),...s,`evaluated_at >= '${o}'`,`evaluated_at < '${a}'`];return`SELECT evaluated_at, trace_id, span_id, metric, ${i} FROM scores
WHERE ${c.join(" AND ")}
ORDER BY ${u} DESC LIMIT 200`}export{d as a};
