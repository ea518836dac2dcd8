import{a as e}from"./chunk-VSQSUJ2E.js";import"./chunk-OD4V6G7K.js";export{e as default};
