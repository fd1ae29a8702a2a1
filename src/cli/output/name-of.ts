import type { Session } from "../../core/sessions.ts";
import { readLabelsOf } from "../../store/records/sessions/labels.ts";
import type { Store } from "../../store/store.ts";

/** The name that a person gave to the session, else its title; null without both. Not cleaned. */
export async function nameOf(
  store: Store,
  { id, title }: Pick<Session, "id" | "title">,
): Promise<string | null> {
  const labels = await store.read(readLabelsOf, { ids: [id] });
  return labels.get(id)?.name ?? title;
}
