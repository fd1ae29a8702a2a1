import { isDeepStrictEqual } from "node:util";

import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import type { RunnableConfig } from "@langchain/core/runnables";

import { oneLine } from "../../core/text/terminal-text.ts";
import { permissionChoices } from "../../core/text/words.ts";
import { isServerTool, type ToolSet } from "../../core/tools.ts";
import type { Server } from "../../mcp/configured-servers.ts";
import type { Connection } from "../../mcp/connection.ts";
import type { ListedTool } from "../../mcp/listed-tools.ts";
import type { Progress } from "../../mcp/running-call.ts";
import type { Servers } from "../../mcp/servers.ts";
import { denial, refusal } from "../../workspace/files/refusal.ts";
import { deniedByUser, isAllowed, type Permit } from "../permit/permit.ts";
import { askConsent, asksFirst, permittingItself } from "../permit/tool-asking.ts";
import { defined, type ToolDefinition } from "../messages/tool-definition.ts";
import { type KeptCall, ServerCall } from "./server-call.ts";
import { type CallConfig, type Outcome, reportFailure } from "./tool-result.ts";

export interface ServerToolsInput {
  /** Null if the folder has none: then no call of their tools runs. */
  readonly servers: Servers | null;
  readonly permit: Permit;
  readonly declared: ToolSet;
  /** True for a tool that the persona, the parent session or the repository denies. */
  readonly isDenied: (name: string) => boolean;
  /** Definitions of the tools that the model has when the exchange begins. */
  readonly known: readonly ToolDefinition[];
  /** Texts kept by calls that were left open by the exchange before, by their ids. */
  readonly kept: () => Promise<ReadonlyMap<string, KeptCall>>;
  /** True if a person can be asked. */
  readonly asks: boolean;
  /** True if the exchange is given back, so that another process continues it. */
  readonly isGivenBack: () => boolean;
  /** Called with each sentence about a server that cannot be used. */
  readonly onProblem: (sentence: string) => void;
  /** Gets what servers report of their progress. */
  readonly onOutput: (call_id: string, text: string) => void;
}

/** Facts about the tool of a call and its server. */
interface CallPlace {
  readonly servers: Servers;
  readonly server: Server;
  readonly connection: Connection;
  readonly listed: ListedTool;
}

interface Continuing {
  readonly config: CallConfig & RunnableConfig;
  /** Text that the call kept when it ran before; null for a new one. */
  readonly kept: KeptCall | null;
}

/** The tools of MCP servers in one exchange. */
export class ServerTools {
  readonly #input: ServerToolsInput;
  #known: readonly ToolDefinition[];
  #offered: {
    readonly summary: string | null;
    readonly tools: Promise<readonly StructuredToolInterface[]>;
  } | null = null;

  constructor(input: ServerToolsInput) {
    this.#input = input;
    this.#known = input.known;
  }

  /**
   * Returns the tools of a new prefix, which begins with a summary or, with null, the thread. Servers are connected by the
   * first call, and asked again for each prefix, also those that failed.
   */
  offered(summary: string | null): Promise<readonly StructuredToolInterface[]> {
    if (this.#offered?.summary !== summary) {
      this.#offered = { summary, tools: this.#ask() };
    }
    return this.#offered.tools;
  }

  /** Notes with which tools the model is asked. */
  asks(known: readonly ToolDefinition[]): void {
    this.#known = known;
  }

  /** Returns the tool of a server by its name, also if the server does not have it now; null for another name. */
  tool(name: string): StructuredToolInterface | null {
    const { declared } = this.#input;
    return isServerTool(name) && !declared.has(name) ? this.#toolOf(name) : null;
  }

  async #ask(): Promise<readonly StructuredToolInterface[]> {
    const { servers, declared, isDenied, onProblem } = this.#input;
    if (servers === null) {
      return [];
    }
    const { tools, problems } = await servers.offered();
    problems.forEach(onProblem);
    return tools
      .filter(({ fullName }) => !declared.has(fullName) && !isDenied(fullName))
      .map((listed) => defined(this.#toolOf(listed.fullName), definitionOf(listed)));
  }

  #toolOf(name: string): StructuredToolInterface {
    const run = reportFailure((args: unknown, config) => this.#run(name, args, config));
    // its own schema is checked by the server alone: it may be a trap
    const schema = { type: "object", properties: {}, additionalProperties: true } as const;
    return permittingItself(asksFirst(tool(run, { name, description: "", schema })));
  }

  async #run(name: string, args: unknown, config: CallConfig & RunnableConfig): Promise<Outcome> {
    const kept = (await this.#input.kept()).get(config.toolCall?.id ?? "") ?? null;
    const at = await this.#prepare(name, args, { config, kept });
    return this.#call(at, args, { config, kept });
  }

  /** Rejects with a refusal of a call that cannot be made, or may not. */
  async #prepare(name: string, args: unknown, { config, kept }: Continuing): Promise<CallPlace> {
    const { permit, declared, servers } = this.#input;
    const server = servers?.serverOf(name) ?? null;
    if (servers === null || server === null) {
      // nobody is asked about a call that cannot be made
      throw refusal(
        servers?.problemOf(name) ??
          `the MCP server of ${name} is not configured any more. Do without it, or ask the user`,
      );
    }
    const shown = JSON.stringify(args, null, 2);
    const call = { tool: declared.get(name), file: null, command: null };
    await permit(config, call, async () => ({ shown, basis: shown }));
    const { connection, tools } = await connected(servers, server);
    const listed = tools.find(({ fullName }) => fullName === name);
    if (listed === undefined) {
      throw refusal(`the MCP server ${server.name} does not have this tool any more`);
    }
    if (kept === null) {
      await this.#askIfChanged(listed, { config, shown });
    }
    return { servers, server, connection, listed };
  }

  #call(at: CallPlace, args: unknown, { config, kept }: Continuing): Promise<Outcome> {
    const { asks, isGivenBack, onProblem } = this.#input;
    return new ServerCall({
      ...at,
      call: { tool: at.listed, args: argumentsIn(args), onProgress: this.#progressOf(config) },
      config,
      kept,
      asks,
      isGivenBack,
      onNotice: onProblem,
    }).run();
  }

  /** Asks a person about a tool that is not what the model was given, whatever rule allows it. */
  async #askIfChanged(
    listed: ListedTool,
    { config, shown }: { readonly config: RunnableConfig; readonly shown: string },
  ): Promise<void> {
    const now = definitionOf(listed);
    const known = this.#known.find((each) => each.function.name === listed.fullName);
    if (isDeepStrictEqual(known, now)) {
      return;
    }
    const { fullName } = listed;
    const given = await askConsent(
      config,
      {
        kind: "permission",
        text: [
          `May the agent run ${fullName}?`,
          "Its server has changed the description or the arguments of this tool since the agent was given it.",
          `Description: ${oneLine(listed.description)}`,
          shown,
        ].join("\n"),
        choices: permissionChoices(null),
        permission: {
          tool: fullName,
          subject: null,
          rule: fullName,
          layer: "changed tool",
          may_last: false,
        },
      },
      JSON.stringify([now, shown]),
    );
    if (!isAllowed(given)) {
      throw denial(deniedByUser(given.note));
    }
  }

  #progressOf({ toolCall }: CallConfig): (progress: Progress) => void {
    const { onOutput } = this.#input;
    let reports = 0;
    return ({ progress, total, message }) => {
      reports += 1;
      if (toolCall?.id !== undefined && reports <= MAX_REPORTS) {
        const of = total === undefined ? "" : ` of ${total}`;
        const about = message === undefined ? "" : ` ${oneLine(message.slice(0, MAX_PROGRESS))}`;
        onOutput(toolCall.id, `${progress}${of}${about}\n`);
      }
    };
  }
}

/** Reports of one call that are shown, and characters of the text of each. */
const MAX_REPORTS = 500;
const MAX_PROGRESS = 200;

async function connected(
  servers: Servers,
  server: Server,
): Promise<{ readonly connection: Connection; readonly tools: readonly ListedTool[] }> {
  try {
    const connection = await servers.connection(server);
    return { connection, tools: (await connection.list()).tools };
  } catch (error) {
    const { reasonOf } = await import("../../mcp/reasons.ts");
    throw refusal(`the MCP server ${server.name} cannot be used: ${reasonOf(error)}`);
  }
}

function argumentsIn(args: unknown): Readonly<Record<string, unknown>> {
  return typeof args === "object" && args !== null ? { ...args } : {};
}

function definitionOf({ fullName, description, schema }: ListedTool): ToolDefinition {
  return { type: "function", function: { name: fullName, description, parameters: schema } };
}
