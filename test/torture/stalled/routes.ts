import { phase, plan } from "../../helpers/artifacts/plans.ts";
import type { World } from "./world.ts";

/** A request whose answer is large. */
export interface LargeRequest {
  readonly method?: "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** For the connection with this number: some ask for other parts, so that they share nothing. */
export type RequestOf = (index: number) => LargeRequest;

/** The row in which the connections ask for all of them. */
export const ALL = "all";

const PHASES = 200;

/** A plan whose picture takes some milliseconds. */
function longPlan(): string {
  const phases = Array.from({ length: PHASES }, (_, index) =>
    phase({
      key: `phase-${index}`,
      depends_on: [1, 3].filter((back) => back <= index).map((back) => `phase-${index - back}`),
    }),
  );
  return JSON.stringify(plan({ phases }));
}

const BROTLI = { "accept-encoding": "br" };

/** All routes whose answers can be large, by the name in the table. */
export function largeRoutes(world: World, page: string): Readonly<Record<string, RequestOf>> {
  const { long, wide, asking, changed, talked } = world;
  const of = (id: string, rest = ""): string => `/api/sessions/${id}${rest}`;
  const agUi = {
    threadId: "t",
    runId: "r",
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
    messages: [{ id: talked.message, role: "user", content: talked.text }],
  };
  const routes: Readonly<Record<string, RequestOf>> = {
    messages: (index) => ({ path: of(long, `/messages?limit=200&after_seq=${index % 20}`) }),
    "messages, br": (index) => ({
      path: of(long, `/messages?limit=200&after_seq=${index % 20}`),
      headers: BROTLI,
    }),
    detail: () => ({ path: of(long) }),
    "detail, br": () => ({ path: of(long), headers: BROTLI }),
    export: () => ({ path: of(long, "/export") }),
    stream: (index) => ({ path: of(wide, `/stream?last_seq=${index % 50}`) }),
    live: (index) => ({ path: of(wide, `/live?after_seq=${index % 50}`) }),
    events: () => ({
      path: "/api/events",
      headers: { "last-event-id": world.firstEvent },
    }),
    list: () => ({ path: "/api/sessions?limit=200" }),
    "list, br": () => ({ path: "/api/sessions?limit=200", headers: BROTLI }),
    questions: () => ({ path: of(asking, "/questions") }),
    changes: () => ({ path: of(changed, "/exchanges/1/changes") }),
    "ai-sdk": () => ({ path: of(asking, "/ui/ai-sdk") }),
    "ag-ui": () => ({ method: "POST", path: of(talked.id, "/ui/ag-ui"), body: agUi }),
    "page files": () => ({ path: page }),
    openapi: () => ({ path: "/openapi.json" }),
    plans: () => ({ method: "POST", path: "/api/artifacts/plan", body: { text: longPlan() } }),
  };
  const all = Object.values(routes);
  return { ...routes, [ALL]: (index) => all[index % all.length]?.(index) ?? { path: "/livez" } };
}
