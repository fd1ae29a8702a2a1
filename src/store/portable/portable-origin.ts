import type { Origin } from "../../core/origins.ts";

interface OriginRow {
  readonly origin: Origin | null;
  readonly authenticated: number;
  readonly accepted_at: string | null;
}

export interface PortableOrigin {
  readonly origin?: Origin;
  readonly authenticated?: false;
  readonly accepted_at?: string;
}

/** What an export says of a row's origin: nothing of a row from before origins were stored. */
export function portableOrigin(row: OriginRow): PortableOrigin {
  return {
    ...(row.origin === null ? {} : { origin: row.origin }),
    ...(row.authenticated === 0 ? { authenticated: false } : {}),
    ...(row.accepted_at === null ? {} : { accepted_at: row.accepted_at }),
  };
}

/** The columns again: without them a row counts as authenticated. */
export function originColumns(portable: PortableOrigin): OriginRow {
  return {
    origin: portable.origin ?? null,
    authenticated: portable.authenticated === false ? 0 : 1,
    accepted_at: portable.accepted_at ?? null,
  };
}
