export { default } from "./unknown";
