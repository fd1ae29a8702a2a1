import { RepriseError } from "../core/errors.ts";
import type { Session } from "../core/sessions.ts";
import { oneLine } from "../core/text/terminal-text.ts";

/**
 * A session's context belongs to the agent that began it: another one has other tools and state. An
 * agent may take a session whose thread no agent has begun. `agent` is null for the built-in one.
 *
 * Error codes: `agent_differs`.
 */
export function refuseOtherAgent(
  session: Pick<Session, "agent">,
  { agent, hasBegun }: { readonly agent: string | null; readonly hasBegun: boolean },
): void {
  if (mayRun(session, { agent, hasBegun })) {
    return;
  }
  throw new RepriseError("agent_differs", differsFrom(session.agent));
}

/** True if `refuseOtherAgent` would not refuse it. */
export function mayRun(
  session: Pick<Session, "agent">,
  { agent, hasBegun }: { readonly agent: string | null; readonly hasBegun: boolean },
): boolean {
  return session.agent === agent || (session.agent === null && !hasBegun);
}

function differsFrom(agent: string | null): string {
  return agent === null
    ? "The session belongs to the built-in agent. Continue it with that, or begin a fresh context with `fresh: true`."
    : `The session belongs to the agent "${oneLine(agent)}". Pass \`agent: "${oneLine(agent)}"\` (\`--agent <its module>\`), or begin a fresh context with \`fresh: true\` (--model or --persona for the built-in agent).`;
}
