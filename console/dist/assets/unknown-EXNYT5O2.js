import{a}from"./chunk-QUZEDZTZ.js";import"./chunk-UP5RVPHV.js";export{a as default};
