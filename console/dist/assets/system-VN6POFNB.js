import{a as e}from"./chunk-BPK6TQIE.js";import"./chunk-A2FUWXOT.js";export{e as default};
