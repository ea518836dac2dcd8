import{a as e}from"./chunk-QUZEDZTZ.js";import"./chunk-UP5RVPHV.js";export{e as default};
