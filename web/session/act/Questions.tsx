import type { JSX } from "preact";

import type { SessionModel } from "../model.ts";

export function Questions(_: { readonly model: SessionModel }): JSX.Element | null {
  return null;
}
