interface Query {
  limit(count: number): { executeTakeFirst(): Promise<unknown> };
}

/** True if the query finds at least one row. */
export async function hasRow(query: Query): Promise<boolean> {
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
