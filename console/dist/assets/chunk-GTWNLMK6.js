import{a as c}from"./chunk-HVHGM3NS.js";import{J as d,O as l,U as S,c as g,e as h,f as w,g as i,ga as s,j as _,u as T,w as R}from"./chunk-IN46DVPB.js";var O=`-- All facets at once; $where as in C9. One scan instead of one a facet, and each span is counted once: the facets are
-- those of the few combinations that there are.
SELECT facet, v, n FROM (
  SELECT facet, v, n, row_number() OVER (PARTITION BY facet ORDER BY n DESC, v) AS place FROM (
    SELECT CASE WHEN grouping(service_name) = 0 THEN 'service_name' WHEN grouping(operation) = 0 THEN 'operation'
                WHEN grouping(request_model) = 0 THEN 'request_model' WHEN grouping(status_code) = 0 THEN 'status_code'
                WHEN grouping(dialect) = 0 THEN 'dialect' ELSE 'name' END AS facet,
           coalesce(service_name, operation, request_model, status_code, dialect, name) AS v, sum(n) AS n
    FROM (SELECT service_name, operation, request_model, status_code, dialect, name, count(*) AS n
          FROM spans
          WHERE start_time >= $from AND start_time < $to AND ($where)
          GROUP BY 1, 2, 3, 4, 5, 6)
    GROUP BY GROUPING SETS ((service_name), (operation), (request_model), (status_code), (dialect), (name))))
WHERE place <= 12 ORDER BY facet, n DESC, v;
`;var v=`-- Tables and columns, with what each one is.
SELECT "table", "column", type, doc FROM table_columns;
`;var f;function y(){return f??=d(c(v,{})).then(e=>l(e)),f.catch(()=>f=void 0),f}var P=/\battr\s*\(\s*(attributes|resource_attributes)\s*,\s*'([^']*)$/i,W=/\b(service_name|operation|request_model|status_code|dialect|name)\s*(?:=|<>|!=|\b(?:NOT\s+)?IN\s*\((?:\s*'[^']*'\s*,)*)\s*'([^']*)$/i;function D(e){let n=P.exec(e)??W.exec(e);return n?{column:n[1].toLowerCase(),typed:n[2]}:void 0}var x=`-- C39, the keys that attributes have, the most frequent first: of some spans of the range, because each span is read whole.
SELECT place, word, count(*) AS n FROM (
  SELECT 'attributes' AS place, unnest(json_keys(attributes)) AS word
  FROM (SELECT attributes FROM spans WHERE start_time >= $from AND start_time < $to LIMIT 2000)
  UNION ALL
  SELECT 'resource_attributes', unnest(json_keys(resource_attributes))
  FROM (SELECT resource_attributes FROM spans WHERE start_time >= $from AND start_time < $to LIMIT 2000))
GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 1000;
`;var N=6e4,a;function k(e){let n=new Map;for(let t of e.flatMap(l)){let r=t.word??t.v;if(typeof r!="string"||r==="")continue;let o=String(t.place??t.facet);n.set(o,[...n.get(o)??[],{word:r,n:S(t.n)??0}])}return n}async function C(e){let{from:n,to:t}=_(R.value),r=JSON.stringify([T.value,Date.parse(t)-Date.parse(n),Math.floor(Date.parse(t)/N)]);if(a===void 0||a.range!==r||Date.now()-a.at>N){let o=[c(x,{from:n,to:t}),c(O,{from:n,to:t},{where:"true"})].map(m=>d(m));a={at:Date.now(),range:r,words:Promise.all(o).then(k)},a.words.catch(()=>a=void 0)}return(await a.words).get(e)??[]}function ie(e){let n=i(null),t=i(void 0),r=i(e);r.current=e;let[o,m]=g(!e.later),[u,L]=g(!1),b=i(!1);return h(()=>{if(!o)return;let p=!1;return import("./editor-XVRQ223T.js").then(({makeEditor:M})=>{p||!n.current||(b.current=n.current.parentElement?.contains(document.activeElement)??!1,t.current=M({parent:n.current,text:r.current.text,label:e.label,single:e.single??!1,...e.hint?{hint:e.hint}:{},words:F,run:()=>r.current.run(),change:E=>r.current.change(E)}),L(!0),y().then(E=>t.current?.setColumns(E,e.table),()=>{}))}),()=>{p=!0,t.current?.destroy(),t.current=void 0}},[o]),w(()=>{u&&b.current&&t.current?.focus()},[u]),h(()=>{t.current&&t.current.text()!==e.text&&t.current.setText(e.text)},[e.source]),s("div",{class:e.single?"editor single":"editor",children:[s("div",{ref:n,hidden:!u}),!u&&s(B,{...e,focus:()=>m(!0)})]})}function F(e){let n=D(e);return n&&{typed:n.typed,words:C(n.column).catch(()=>[])}}function B(e){let n=t=>{t.key!=="Enter"||!(e.single||t.ctrlKey||t.metaKey)||(t.preventDefault(),e.run())};return s("textarea",{rows:e.single?1:8,spellcheck:!1,"aria-label":e.label,value:e.text,placeholder:e.hint??"",...e.single?{"data-filter":""}:{},onFocus:e.focus,onKeyDown:n,onInput:t=>e.change(t.currentTarget.value)})}export{y as a,O as b,ie as c};
