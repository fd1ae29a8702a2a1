import { type Static, Type } from "typebox";

import { closed, nullable, nullableOneOf, oneOf, text } from "./field-schemas.ts";
import {
  DEFAULT_SEARCH_RESULTS,
  MAX_QUERY_LENGTH,
  MAX_SEARCH_RESULTS,
  SEARCHED_ROLES,
} from "../search/search.ts";
import { ROLES } from "../sessions.ts";
import { repoPath } from "./schemas.ts";

/** A filter of the search is an AND with the others. */
export const SearchQuery = Type.Object(
  {
    q: Type.String({
      ...text(),
      minLength: 1,
      maxLength: MAX_QUERY_LENGTH,
      description: `words that all have to be there; what is between two \`"\` is one word`,
    }),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_SEARCH_RESULTS, default: DEFAULT_SEARCH_RESULTS }),
    ),
    role: Type.Optional(oneOf(SEARCHED_ROLES)),
    since: Type.Optional(
      Type.String({
        pattern: "^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z)?$",
        description: "a day or a time in UTC: 2026-01-31 or 2026-01-31T12:00:00Z",
      }),
    ),
    repo_path: Type.Optional(repoPath()),
    archived: Type.Optional(
      Type.Boolean({ description: "true to find archived sessions and messages, too" }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_-]{1,400}$",
        description: "a cursor from a Link header",
      }),
    ),
  },
  closed,
);
export type SearchQuery = Static<typeof SearchQuery>;

const SearchResultInfo = Type.Object(
  {
    session_id: Type.String({ format: "uuid" }),
    seq: nullable(Type.Integer({ minimum: 1, description: "Null for a name or a title." })),
    role: nullableOneOf(ROLES),
    ts: Type.String(),
    title: nullable(Type.String({ description: "The name of the session, or its title." })),
    excerpt: Type.String(),
    marks: Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
      description: "Places of words in the excerpt, each from one UTF-16 unit to before another.",
    }),
  },
  closed,
);

export const SearchInfo = Type.Object(
  {
    results: Type.Array(SearchResultInfo, { maxItems: MAX_SEARCH_RESULTS }),
    complete: Type.Boolean({ description: "False if some messages were left out." }),
    indexed_until: nullable(
      Type.String({ description: "Last use of the session that is indexed next." }),
    ),
  },
  closed,
);
export type SearchInfo = Static<typeof SearchInfo>;
