import{X as c,da as d}from"./chunk-QHGY6JRJ.js";import{e as n}from"./chunk-6RZX4AS2.js";var g=`-- What changed, for the marks on the axis: evaluator versions, deployments, alerts. A name with one version has not changed.
-- A version counts the items that it was the first to judge: what was judged again later would put the mark of a new version
-- where an old item stands. The attributes of a resource are grouped before they are read, because many spans share one
-- text; and the condition on the version stands on an aggregate, because it would be asked of every span elsewhere.
SELECT kind, name, version, at, n
FROM (SELECT kind, name, version, at, n, count(*) OVER (PARTITION BY kind, name) AS versions
      FROM (SELECT 'evaluator' AS kind, evaluator AS name, evaluator_version AS version, min(span_time) AS at, count(*) AS n
            FROM scores WHERE span_time >= $from AND span_time < $to AND source = 'rule' AND score_version = 1 GROUP BY 2, 3
            UNION ALL
            SELECT 'deployment', service_name, version, min(at), sum(n)
            FROM (SELECT service_name, attr(resource_attributes, 'service.version') AS version, at, n
                  FROM (SELECT service_name, resource_attributes, min(start_time) AS at, count(*) AS n
                        FROM spans WHERE start_time >= $from AND start_time < $to AND parent_span_id IS NULL GROUP BY 1, 2))
            GROUP BY 2, 3 HAVING count(version) > 0
            UNION ALL
            SELECT 'alert', metric, concat(state, ' ', slice), evaluated_at, 1
            FROM alerts WHERE evaluated_at >= $from AND evaluated_at < $to AND coalesce(message, '') NOT LIKE 'acknowledged by %'))
WHERE kind = 'alert' OR versions > 1
ORDER BY 4, 1, 2, 3 LIMIT 200;
`;var f=8,p={deployment:"deploy",alert:"alert",evaluator:"evaluator"};function R(s,r,m){let e=new Set,o=[];for(let a of s){let[t,i]=[String(a.kind),String(a.name)],u=p[t];if(u===void 0||t==="evaluator"&&r!==""&&i!==r||t==="alert"&&i!==m)continue;let l=!e.has(`${t} ${i}`);e.add(`${t} ${i}`),!(l&&t!=="alert")&&o.push({at:d(String(a.at))/1e3,text:`${u} ${n(String(a.version),18)}`})}return o.slice(0,f)}var E=4;function w(s,r){return(s??[]).filter(e=>e.metric===r&&typeof e.objective=="number").slice(0,E).map(e=>{let o=e.filter?` where ${n(e.filter,40)}`:"";return{y:e.objective,text:`${n(e.name,30)} wants ${c(e.objective)}${o}`,short:`\u2265 ${c(e.objective)}`}})}export{R as a,w as b,g as c};
