import { render } from "preact";

import { App, loadFirst } from "./App.tsx";
import { begin, hasCode } from "./login/take-code.ts";
import { applyTheme } from "./parts/theme.ts";
import { route } from "./route.ts";

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
void show();

/** Does not hold up this module: the code of the first page imports what is in its file. */
async function show(): Promise<void> {
  await loadFirst(route.peek());
  const root = document.querySelector("#app");
  if (root !== null) {
    render(<App />, root);
  }
}
