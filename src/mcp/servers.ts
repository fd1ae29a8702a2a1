import { homedir } from "node:os";

import { createConceal, type Conceal, type Secret } from "../core/secrets.ts";
import { commandEnvironment } from "../workspace/commands/environment.ts";
import { ProcessMarks } from "../workspace/commands/process-marks.ts";
import type { ConfiguredServers, Server } from "./configured-servers.ts";
import type { Connection } from "./connection.ts";
import { areOffersFresh, keepTools, learnOffers, readKeptTools } from "./kept-lists.ts";
import { fitting, type ListedTool } from "./listed-tools.ts";
import type { CallStep, RunningCall } from "./running-call.ts";
import { logFile, ServerLog } from "./server-log.ts";

/** Parts of the machine that servers need. */
export interface McpOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Keeps lists of tools and logs; null for nowhere. */
  readonly folder: string | null;
  /** Version of Reprise that servers get. */
  readonly version: string;
  /** For the connections of all servers with their lists; 5 s if it is not given. */
  readonly listTimeoutMs?: number;
}

export interface ServersInput extends McpOptions, ConfiguredServers {
  readonly session_id: string;
  /** Real path of the folder that programs are started in; null for the home folder. */
  readonly cwd: string | null;
  /** No variable with one of these secrets is passed on. */
  readonly conceal: Conceal;
  /** True if a person can be asked what a server asks. */
  readonly asks?: boolean;
  /** Gets the tokens of logins, which neither models nor people are shown. */
  readonly onSecrets: (secrets: readonly Secret[]) => void;
}

/** A call that waits for a person while its server works on. */
export interface HeldCall {
  readonly connection: Connection;
  readonly call: RunningCall;
  readonly question: Extract<CallStep, { readonly kind: "question" }>;
}

/** Tools that servers offer, and what of them cannot be used: sentences for a person. */
export interface OfferedTools {
  readonly tools: readonly ListedTool[];
  readonly problems: readonly string[];
}

const LIST_TIMEOUT_MS = 5000;
/** For one that is connected when a call needs it. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Starts of one server in an exchange: one that ends again and again is left alone. */
const MAX_STARTS = 3;

/**
 * The servers of one exchange. Nothing is loaded, started or sent before the first tool is asked for. A server that
 * cannot be reached costs its tools and nothing else.
 */
export class Servers {
  readonly #input: ServersInput;
  readonly #marks: ProcessMarks;
  readonly #stop = new AbortController();
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #starts = new Map<string, number>();
  /** Also those that their server has closed: what it started may still run. */
  readonly #opened: Connection[] = [];
  readonly #held = new Map<string, HeldCall>();
  #isRemembering = false;
  /** True if they were running before the exchange began. */
  isResumed = false;
  /** Tokens that have been sent, for an exchange that continues with these servers. */
  readonly #tokens: Secret[] = [];
  #onSecrets: ServersInput["onSecrets"];

  constructor(input: ServersInput) {
    this.#input = input;
    this.#onSecrets = input.onSecrets;
    this.#marks = new ProcessMarks(input.session_id, input.env);
  }

  get isEmpty(): boolean {
    const { servers, unusable, problems } = this.#input;
    return servers.length + unusable.length + problems.length === 0;
  }

  /** True for the servers that these would be: nothing of them has changed. */
  isAs({ servers, asks, cwd }: Pick<ServersInput, "servers" | "asks" | "cwd">): boolean {
    const own = this.#input;
    const hashes = (list: readonly Server[]): string => list.map(({ hash }) => hash).join();
    return hashes(own.servers) === hashes(servers) && own.asks === asks && own.cwd === cwd;
  }

  /** Keeps a call that waits for a person. */
  hold(call_id: string, held: HeldCall): void {
    this.#held.set(call_id, held);
  }

  /** Returns a call that was kept, once; null if it is not here any more. */
  takeHeld(call_id: string): HeldCall | null {
    const held = this.#held.get(call_id) ?? null;
    this.#held.delete(call_id);
    return held;
  }

  /** Keeps the programs while their question waits: they may remember the call. */
  remember(): void {
    this.#isRemembering = true;
  }

  /** Called when the session continues with them. */
  resume({ onSecrets }: Pick<ServersInput, "onSecrets">): this {
    this.#isRemembering = false;
    this.isResumed = true;
    this.#onSecrets = onSecrets;
    onSecrets(this.#tokens);
    return this;
  }

  /** True if a call waits for a person, or a program remembers one that does. */
  get isHolding(): boolean {
    // the server of a held call may have given its result since
    return this.#held.size > 0 || this.#isRemembering;
  }

  /** Returns the server that has a tool, by the tool's full name. */
  serverOf(tool: string): Server | null {
    const name = tool.slice(0, tool.indexOf("__"));
    return this.#input.servers.find((server) => server.name === name) ?? null;
  }

  /** Returns why the server of a tool cannot be used, as the config has it; null for another tool. */
  problemOf(tool: string): string | null {
    const name = tool.slice(0, tool.indexOf("__"));
    return this.#input.unusable.find((server) => server.name === name)?.problem ?? null;
  }

  /** Asks all servers at once for their tools. One that does not answer in time has those that it had before. */
  async offered(timeoutMs = this.#input.listTimeoutMs ?? LIST_TIMEOUT_MS): Promise<OfferedTools> {
    const { servers, unusable } = this.#input;
    const lists = await Promise.all(servers.map((server) => this.#offeredBy(server, timeoutMs)));
    const { tools, left } = fitting(lists.flatMap(({ tools }) => tools));
    const names = left.map(({ fullName }) => fullName);
    return {
      tools,
      problems: [
        // servers of one file may have one problem
        ...new Set([...this.#input.problems, ...unusable.map(({ problem }) => problem)]),
        ...lists.flatMap(({ problems }) => problems),
        ...(names.length === 0
          ? []
          : [
              `The definitions of all tools of MCP servers are larger than 64 KiB, so ${names.length} are left out, from ${names[0] ?? ""} on. Name those that you need in mcp.<server>.tools.`,
            ]),
      ],
    };
  }

  /**
   * Returns a connection to a server, which is started again if it has ended. Rejects with what prevents it: see
   * `reasonOf`.
   */
  connection(server: Server, timeoutMs = CONNECT_TIMEOUT_MS): Promise<Connection> {
    const { name } = server;
    // calls that come together start it once
    const last = this.#connections.get(name) ?? Promise.resolve(null);
    const next = last
      .catch(() => null)
      .then((known) => (known?.isOpen() === true ? known : this.#start(server, timeoutMs)));
    this.#connections.set(name, next);
    return next;
  }

  /** Ends what the session left running whose Reprise was killed. */
  async endLeftRunning(): Promise<void> {
    if (!this.isEmpty) {
      await this.#marks.endLeftRunning();
    }
  }

  /** Ends all servers, with all that they have started. */
  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#connections.values());
    await Promise.all(this.#opened.map((connection) => connection.close()));
  }

  /** Lets this process end, or not, while the servers run. */
  holdProcess(holds: boolean): void {
    this.#opened.forEach((connection) => connection.holdProcess(holds));
  }

  /** Ends all programs at once: for when there is no time to wait. */
  kill(): void {
    this.#opened.forEach((connection) => connection.kill());
  }

  async #start(server: Server, timeoutMs: number): Promise<Connection> {
    this.#stop.signal.throwIfAborted();
    const starts = this.#starts.get(server.name) ?? 0;
    if (starts >= MAX_STARTS) {
      throw new Error("it has ended again and again");
    }
    this.#starts.set(server.name, starts + 1);
    const connection = await this.#open(server, timeoutMs);
    this.#opened.push(connection);
    return connection;
  }

  async #offeredBy(server: Server, timeoutMs: number): Promise<OfferedTools> {
    const { folder } = this.#input;
    try {
      const connection = await this.connection(server, timeoutMs);
      const list = await connection.list();
      await keepTools(folder, server, list.tools);
      if (!(await areOffersFresh(folder, server))) {
        // nobody waits for it
        void learnOffers(folder, server, { connection, signal: this.#stop.signal });
      }
      return list;
    } catch (error) {
      const { reasonOf } = await import("./reasons.ts");
      const tools = await readKeptTools(folder, server);
      const what =
        tools.length === 0 ? "it has no tools here" : "it has the tools that it had before";
      return {
        tools,
        problems: [`The MCP server ${server.name} cannot be used, so ${what}: ${reasonOf(error)}.`],
      };
    }
  }

  async #open(server: Server, timeoutMs: number): Promise<Connection> {
    const { env, folder, version, cwd, conceal, asks = false } = this.#input;
    const { connect } = await import("./connection.ts");
    const own = server.place.kind === "program" ? server.place.env : {};
    return connect({
      server,
      version,
      asks,
      timeoutMs,
      signal: this.#stop.signal,
      folder,
      onSecrets: (secrets) => {
        this.#tokens.push(...secrets);
        this.#onSecrets(secrets);
      },
      program: () => ({
        env: { ...commandEnvironment(env, { conceal }), ...own },
        cwd: cwd ?? homedir(),
        mark: this.#marks.next(),
        log: new ServerLog(
          folder === null ? null : logFile(folder, server),
          createConceal(server.secrets),
        ),
      }),
    });
  }
}
