import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { pageTitle } from "../parts/attention.ts";

/** Checks phase plans and draws them. */
export function Plans(): JSX.Element {
  useEffect(() => {
    pageTitle.value = "Plans";
  }, []);
  return <h1>Plans</h1>;
}
