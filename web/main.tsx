import { render } from "preact";

import { App } from "./App.tsx";
import { readWhoami } from "./api.ts";
import { applyTheme } from "./parts/theme.ts";

applyTheme();
void readWhoami();
const root = document.querySelector("#app");
if (root !== null) {
  render(<App />, root);
}
