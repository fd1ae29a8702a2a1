import { render } from "preact";

import { App } from "./App.tsx";
import { begin, hasCode } from "./login/take-code.ts";
import { applyTheme } from "./parts/theme.ts";

applyTheme();
const isLoggingIn = hasCode();
const begun = begin();
if (isLoggingIn) {
  // what is read before would be refused
  await begun;
}
const root = document.querySelector("#app");
if (root !== null) {
  render(<App />, root);
}
