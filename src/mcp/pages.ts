export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly nextCursor?: string | undefined;
}

/**
 * Asks a server for a list page by page, up to these numbers: a list may have no end, or name a page again that it has
 * given. Rejects as `ask` does.
 */
export async function pagesOf<Entry>(
  max: { readonly pages: number; readonly entries: number },
  ask: (params: { cursor?: string }) => Promise<Page<Entry>>,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < max.pages && found.length < max.entries; page += 1) {
    const { entries, nextCursor } = await ask(cursor === undefined ? {} : { cursor });
    found.push(...entries.slice(0, max.entries - found.length));
    cursor = nextCursor;
    if (cursor === undefined || seen.has(cursor)) {
      break;
    }
    seen.add(cursor);
  }
  return found;
}
