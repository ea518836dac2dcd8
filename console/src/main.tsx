import { render } from "preact";
import { applyTheme, start } from "./lib/store";
import { startKeys } from "./lib/keys";
import { type Loaders, Shell } from "./ui/shell";

const loaders: Loaders = {
  quality: () => import("./pages/quality"),
  trace: () => import("./pages/trace"),
  explore: () => import("./pages/explore"),
  scores: () => import("./pages/scores"),
  alerts: () => import("./pages/alerts"),
  review: () => import("./pages/review"),
  lab: () => import("./pages/lab"),
  sampling: () => import("./pages/sampling"),
  system: () => import("./pages/system"),
  sql: () => import("./pages/sql"),
  unknown: () => import("./pages/unknown"),
};

applyTheme();
start();
startKeys();
const app = document.getElementById("app");
if (app) render(<Shell loaders={loaders} />, app);
