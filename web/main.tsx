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
// an address with a code that is put into a tab in which the page is open
addEventListener("hashchange", () => {
  if (hasCode()) {
    void begin();
  }
});
const root = document.querySelector("#app");
if (root !== null) {
  render(<App />, root);
}
