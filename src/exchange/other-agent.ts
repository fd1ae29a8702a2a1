import { RepriseError } from "../core/errors.ts";
import type { Session } from "../core/sessions.ts";
import { PLAN_AGENT } from "../core/plan-runs.ts";
import { runTakesNoMessage } from "../store/records/plans/takes-no-message.ts";
import { oneLine } from "../core/text/terminal-text.ts";

/**
 * A session's context belongs to the agent that began it: another one has other tools and state. An
 * agent may take a session whose thread no agent has begun. `agent` is null for the built-in one.
 *
 * Error codes: `agent_differs`; `run_takes_no_message` for the session of a run.
 */
export function refuseOtherAgent(
  session: Pick<Session, "agent">,
  { agent, hasBegun }: { readonly agent: string | null; readonly hasBegun: boolean },
): void {
  if (mayRun(session, { agent, hasBegun })) {
    return;
  }
  if (session.agent === PLAN_AGENT) {
    throw runTakesNoMessage();
  }
  throw new RepriseError("agent_differs", differsFrom(session.agent));
}

/** True if `refuseOtherAgent` would not refuse it. */
function mayRun(
  session: Pick<Session, "agent">,
  { agent, hasBegun }: { readonly agent: string | null; readonly hasBegun: boolean },
): boolean {
  return session.agent === agent || (session.agent === null && !hasBegun);
}

/** True if a node that runs this agent may run the session: one with the built-in agent runs plans too. */
export function isOfNode(
  session: Pick<Session, "agent">,
  node: { readonly agent: string | null; readonly hasBegun: boolean },
): boolean {
  return mayRun(session, node) || (node.agent === null && session.agent === PLAN_AGENT);
}

function differsFrom(agent: string | null): string {
  return agent === null
    ? "The session belongs to the built-in agent. Continue it with that, or begin a fresh context with `fresh: true`."
    : `The session belongs to the agent "${oneLine(agent)}". Pass \`agent: "${oneLine(agent)}"\` (\`--agent <its module>\`), or begin a fresh context with \`fresh: true\` (--model or --persona for the built-in agent).`;
}
