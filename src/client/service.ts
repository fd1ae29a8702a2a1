import type { DoctorReport, ModelInfo, NodeInfo, PersonaInfo } from "../core/service-schemas.ts";
import type { Connection } from "./connection.ts";

/** What the service finds out about itself, and what new sessions can name. */
export interface ServiceCalls {
  /** The services on this database that run exchanges now. */
  listNodes(): Promise<readonly NodeInfo[]>;
  /** What `reprise doctor` checks, without the database's files. */
  checkService(): Promise<DoctorReport>;
  /** What this node has counted, in Prometheus' text format. */
  readMetrics(): Promise<string>;
  /** Those of the user that runs the service, and those of the folder if that user trusts it. */
  listPersonas(options?: { repo_path?: string }): Promise<readonly PersonaInfo[]>;
  /** The default one first. Others can be named, too. */
  listModels(): Promise<readonly ModelInfo[]>;
}

export function serviceCalls(connection: Connection): ServiceCalls {
  return {
    listNodes: () => connection.json<NodeInfo[]>("GET", "/api/nodes"),
    checkService: () => connection.json<DoctorReport>("GET", "/api/doctor"),
    readMetrics: () => connection.text("/metrics"),
    listPersonas: (query = {}) =>
      connection.json<PersonaInfo[]>("GET", "/api/personas", { query: { ...query } }),
    listModels: () => connection.json<ModelInfo[]>("GET", "/api/models"),
  };
}
