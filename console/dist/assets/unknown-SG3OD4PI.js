import{a}from"./chunk-VSQSUJ2E.js";import"./chunk-OD4V6G7K.js";export{a as default};
