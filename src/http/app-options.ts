import type { Catalogue } from "../rules/catalogue.ts";
import type { StartSource } from "../plans/check-start.ts";
import type { ServedFolders } from "../exchange/served-folders.ts";
import type { OpenStore, Store } from "../store/store.ts";
import type { RedactSource } from "../core/redact/clean.ts";
import type { Secrets } from "../core/secrets.ts";
import type { AllowedHosts } from "./guards/hosts.ts";
import type { Jobs, Observe } from "./observation.ts";
import type { OpenMcp } from "./routes/mcp.ts";
import type { PublicPathOptions } from "./guards/public-path.ts";
import type { Log } from "./metrics/request-log.ts";
import type { LiveSource } from "../exchange/live/live-source.ts";
import type { StreamSettings } from "./stream/streams.ts";
import type { UnsentSettings } from "./unsent/unsent-answers.ts";

export interface AppOptions extends PublicPathOptions {
  readonly store: OpenStore;
  /** The program's version, for the OpenAPI document. */
  readonly version: string;
  /** If set, every call but `/livez` and `/readyz` needs it as a bearer token. */
  readonly token?: string | undefined;
  /**
   * Without that one: a token that callers may have. Those without it reach the open calls only: what reads, what
   * stores messages that wait for a person's yes, and what creates and ends sessions.
   */
  readonly madeToken?: string | undefined;
  /** If set too, a caller may have this one instead, and then reads, but changes nothing. */
  readonly readToken?: string | undefined;
  /** If set too, `/metrics` also accepts this one: a metrics collector need not read sessions. */
  readonly metricsToken?: string | undefined;
  readonly hosts: AllowedHosts;
  /** Origins whose pages may use the service, as browsers write them; see `parseOrigins`. */
  readonly allowOrigins?: readonly string[] | undefined;
  /** A folder whose `.reprise/schemas/` are known too; none by default. */
  readonly project?: string | undefined;
  /** How long a check against a schema of that folder may take; `SCHEMA_CHECK_MS` by default. */
  readonly schemaCheckMs?: number | undefined;
  /** Default: the values of `core/limits.ts`. */
  readonly stream?: Partial<StreamSettings> | undefined;
  /** Default: the values of `core/limits.ts`. */
  readonly unsent?: Partial<UnsentSettings> | undefined;
  /** Source of the text of exchanges that this process runs; without it, their text comes from the database. */
  readonly live?: LiveSource | undefined;
  /** How long an answer stays open at most after its login has ended; `LOGIN_CHECK_MS` by default. */
  readonly loginCheckMs?: number | undefined;
  readonly timeouts?: { readonly headersMs?: number; readonly requestMs?: number } | undefined;
  /** The exchanges that the process runs now, and how many it may; without it, no metrics of them. */
  readonly jobs?: (() => Jobs) | undefined;
  /** The folders in whose sessions the process runs exchanges; without it, those are run elsewhere. */
  readonly folders?: ServedFolders | undefined;
  /** Personas and models that new sessions can name; without it, the service lists none. */
  readonly catalogue?: Catalogue | undefined;
  /** By what artifacts and checks of new runs are judged; without it, no run may have checks. */
  readonly runStart?: StartSource | undefined;
  /** Keeps the bytes of files that tools changed: see `createKeptBytes`. None by default. */
  readonly undoFolder?: string | null | undefined;
  /** They are replaced in the diffs of changes; none by default. */
  readonly secrets?: Secrets | undefined;
  /** Texts that an export with `redact` leaves out besides those that every such export does. */
  readonly redact?: RedactSource | undefined;
  /** Keeps outputs of commands, which deleting a session deletes. None by default. */
  readonly outputFolder?: string | null | undefined;
  /** Whether messages may be searched now; without it, they may. Error codes: `config_invalid`. */
  readonly isSearchOn?: (() => Promise<boolean>) | undefined;
  /** Answers MCP clients at `/mcp`; without it, there is no such path. */
  readonly mcp?: OpenMcp | undefined;
  /** Counts what happens, in place of the metrics of the service itself. */
  readonly observe?: Observe | undefined;
  /** The folder of the built web page; without it, the service has no page. */
  readonly page?: string | undefined;
  /** The number of this process among those that share a port, for its metrics. */
  readonly process?: number | undefined;
  /** Receives one line a request, and the service's own failures. */
  readonly log?: Log | undefined;
}

/** With a store whose operations are known. */
export interface ServiceOptions extends AppOptions {
  readonly store: Store;
}
