import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { pageTitle } from "../parts/attention.ts";

/** What the service does and needs. */
export function Service(): JSX.Element {
  useEffect(() => {
    pageTitle.value = "Service";
  }, []);
  return <h1>Service</h1>;
}
