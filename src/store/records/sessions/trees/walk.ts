import type { Operation } from "../../../store.ts";

export interface IdPage {
  /** Only ids after this one. */
  readonly after: string;
  readonly limit: number;
}

interface WithId {
  readonly id: string;
}

/** Ids of sessions, or of those that are nobody's sub-agents, in ascending order. */
export const readSessionIds: Operation<IdPage & { readonly roots: boolean }, readonly WithId[]> = (
  { db },
  { after, limit, roots },
) => {
  const query = db.selectFrom("sessions").select("id").where("id", ">", after);
  const some = roots ? query.where("parent_session_id", "is", null) : query;
  return some.orderBy("id").limit(limit).execute();
};

/** Ids that are read at a time. */
const PAGE = 200;

/** Goes over sessions in ascending order of their ids, which new activity does not disturb. */
export async function* sessionPages<Item extends WithId>(
  read: (page: IdPage) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  let page = await read({ after: "", limit: PAGE });
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page;
    page = await read({ after: last.id, limit: PAGE });
  }
}

/** Yields them one session at a time. */
export async function* walkSessions<Item extends WithId>(
  read: (page: IdPage) => Promise<readonly Item[]>,
): AsyncGenerator<Item> {
  for await (const page of sessionPages(read)) {
    yield* page;
  }
}
