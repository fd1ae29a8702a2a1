import type { RedactSource } from "../../../core/redact/clean.ts";
import type { InProcessOptions } from "../../../http/in-process.ts";
import type { OpenMcp } from "../../../http/routes/mcp.ts";
import type { ServedOptions } from "../../../mcp-serve/create-server.ts";

/** Choices of the person who lets MCP clients in. */
export interface McpChoices {
  readonly version: string;
  readonly mayWrite: boolean;
  /** Texts that are concealed in results; null for nothing. */
  readonly redact: RedactSource | null;
}

/** Options of a server for MCP clients. Loads the validator of the HTTP API, whose errors a tool returns. */
export async function mcpOptions({
  version,
  mayWrite,
  redact,
}: McpChoices): Promise<ServedOptions> {
  const [{ createChecks }, { createShown }, { Waits }] = await Promise.all([
    import("../../../http/guards/validation.ts"),
    import("../../../mcp-serve/shown.ts"),
    import("../../../mcp-serve/waits.ts"),
  ]);
  return {
    version,
    mayWrite,
    check: createChecks(),
    shown: async () => {
      if (redact === null) {
        return createShown();
      }
      const { createCleaner } = await import("../../../core/redact/create-cleaner.ts");
      return createShown(await createCleaner(redact));
    },
    waits: new Waits(),
  };
}

/** Answers MCP clients at `/mcp`. The SDK, and routes for its calls, are loaded by the first request. */
export function mcpAnswers(
  choices: McpChoices,
  options: Omit<InProcessOptions, "observe">,
): OpenMcp {
  return (observe) => {
    const open = async () => {
      const [{ openInProcess }, { createHttpAnswers }, served] = await Promise.all([
        import("../../../http/in-process.ts"),
        import("../../../mcp-serve/http.ts"),
        mcpOptions(choices),
      ]);
      return {
        service: await openInProcess({ ...options, observe }),
        answer: createHttpAnswers(served),
      };
    };
    let opened: ReturnType<typeof open> | null = null;
    return {
      answer: async ({ role, ...given }) => {
        const { service, answer } = await (opened ??= open());
        return answer({ ...given, send: service.fetchAs(role) });
      },
      close: async () => {
        await (await opened)?.service.close();
      },
    };
  };
}
