import{a}from"./chunk-BPK6TQIE.js";import"./chunk-A2FUWXOT.js";export{a as default};
