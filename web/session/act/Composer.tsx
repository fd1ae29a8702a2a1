import type { JSX } from "preact";

import type { SessionModel } from "../model.ts";

export function Composer(_: { readonly model: SessionModel }): JSX.Element | null {
  return null;
}
