import type { AccessInfo } from "../core/schemas/access-schemas.ts";
import type {
  DoctorReport,
  ModelInfo,
  NodeInfo,
  PersonaInfo,
  WaitingInfo,
} from "../core/schemas/service-schemas.ts";
import type { StatInfo, StatsQuery } from "../core/schemas/stats-schemas.ts";
import type { Connection } from "./connection.ts";

/** Facts that the service finds out about itself, and names for new sessions. */
export interface ServiceCalls {
  /** The services on this database that run exchanges now. */
  listNodes(): Promise<readonly NodeInfo[]>;
  /** The sessions whose next exchange waits for a node, and what starts one if nobody runs it. 20 at most. */
  listWaiting(): Promise<readonly WaitingInfo[]>;
  /** Runs the checks of `reprise doctor`, without the database's files. */
  checkService(): Promise<DoctorReport>;
  /** Browsers that are logged in, and links of sessions. Needs the token of the service. */
  listAccess(): Promise<readonly AccessInfo[]>;
  /** Ends a login or a link at once. Needs the token. Code among others: `access_not_found`. */
  revokeAccess(id: string): Promise<void>;
  /** Returns the counts of this node, in Prometheus' text format. */
  readMetrics(): Promise<string>;
  /** Lists the personas of the user that runs the service, and those of the folder if that user trusts it. */
  listPersonas(options?: { repo_path?: string }): Promise<readonly PersonaInfo[]>;
  /** The default one first. Others can be named, too. */
  listModels(): Promise<readonly ModelInfo[]>;
  /** Sums what the requests of models have used and cost; `since` is a time as in JSON. At most 1,000 groups. */
  getStats(query: StatsQuery): Promise<readonly StatInfo[]>;
}

export function serviceCalls(connection: Connection): ServiceCalls {
  return {
    listNodes: () => connection.json<NodeInfo[]>("GET", "/api/nodes"),
    checkService: () => connection.json<DoctorReport>("GET", "/api/doctor"),
    listWaiting: () => connection.json<WaitingInfo[]>("GET", "/api/queue"),
    listAccess: () => connection.json<AccessInfo[]>("GET", "/api/access"),
    revokeAccess: (id) => connection.empty("DELETE", `/api/access/${encodeURIComponent(id)}`),
    readMetrics: () => connection.text("/metrics"),
    listPersonas: (query = {}) => connection.json<PersonaInfo[]>("GET", "/api/personas", { query }),
    listModels: () => connection.json<ModelInfo[]>("GET", "/api/models"),
    getStats: (query) => connection.json<StatInfo[]>("GET", "/api/stats", { query }),
  };
}
