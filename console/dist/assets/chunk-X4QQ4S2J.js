import{W as c,ca as u}from"./chunk-STABK5FY.js";import{e as r}from"./chunk-6RZX4AS2.js";var $=`-- What changed, for the marks on the axis: evaluator versions, deployments, alerts.
SELECT 'evaluator' AS kind, evaluator AS name, evaluator_version AS version, min(span_time) AS at, count(*) AS n
FROM scores_latest WHERE span_time >= $from AND span_time < $to AND source = 'rule' GROUP BY 2, 3
UNION ALL
SELECT 'deployment', service_name, attr(resource_attributes, 'service.version'), min(start_time), count(*)
FROM spans WHERE start_time >= $from AND start_time < $to AND parent_span_id IS NULL
  AND attr(resource_attributes, 'service.version') IS NOT NULL GROUP BY 2, 3
UNION ALL
SELECT 'alert', metric, concat(state, ' ', slice), evaluated_at, 1
FROM alerts WHERE evaluated_at >= $from AND evaluated_at < $to AND coalesce(message, '') NOT LIKE 'acknowledged by %'
ORDER BY 4 LIMIT 200;
`;var v=8,d={deployment:"deploy",alert:"alert",evaluator:"evaluator"};function N(s,n,m){let t=new Set,o=[];for(let i of s){let[e,a]=[String(i.kind),String(i.name)],l=d[e];if(l===void 0||e==="evaluator"&&n!==""&&a!==n||e==="alert"&&a!==m)continue;let f=!t.has(`${e} ${a}`);t.add(`${e} ${a}`),!(f&&e!=="alert")&&o.push({at:u(String(i.at))/1e3,text:`${l} ${r(String(i.version),18)}`})}return o.slice(0,v)}var S=4;function R(s,n){return(s??[]).filter(t=>t.metric===n&&typeof t.objective=="number").slice(0,S).map(t=>{let o=t.filter?` where ${r(t.filter,40)}`:"";return{y:t.objective,text:`${r(t.name,30)} wants ${c(t.objective)}${o}`,short:`\u2265 ${c(t.objective)}`}})}export{N as a,R as b,$ as c};
