import { isRepriseError } from "../core/errors.ts";
import { LEASE_MS } from "../core/limits.ts";
import type { Fence } from "../store/leases/fence.ts";
import { refuseEnded } from "../store/sessions/change.ts";
import { readSession } from "../store/sessions/read.ts";
import { carryOut } from "./carry-out.ts";
import { createCheckpointSaver } from "./checkpoints/saver.ts";
import { delegateTool } from "./delegate.ts";
import type { Exchanger, ExchangeRequest, ExchangerParts, Prepared } from "./exchange-parts.ts";
import { holdLease } from "./hold-lease.ts";
import { defaultModel } from "./models/config.ts";
import { openModel } from "./models/open.ts";
import { loadPersona } from "./personas/load.ts";
import { repoInstructions } from "./personas/repo-instructions.ts";
import { isGone } from "./this-process.ts";

/** Carries out exchanges, one at a time; the checkpoint store stays open between them. */
export function createExchanger(parts: ExchangerParts): Exchanger {
  let fence: Fence | null = null;
  const saver = createCheckpointSaver({ store: parts.store, fence: () => fence });
  return {
    exchange: async (request, live) => {
      const prepared = await prepare(parts, request);
      const held = await holdLease({
        store: parts.store,
        session_id: request.session_id,
        owner: { ...parts.owner, since: new Date().toISOString() },
        life_ms: parts.leaseMs ?? LEASE_MS,
        when_busy: request.when_busy ?? "refuse",
        signal: live.signal,
        isGone,
      });
      fence = held.fence;
      let finished = false;
      let threadId: string | null = null;
      try {
        const subAgents = delegateTool({
          parts,
          fence: held.fence,
          prepared,
          live,
          openExchanger: () => createExchanger(parts),
        });
        const done = await carryOut({ parts, request, live, held, saver, prepared, subAgents });
        finished = done.finished;
        threadId = done.result.thread_id;
        return done.result;
      } catch (error) {
        finished = isRepriseError(error, "nothing_to_continue");
        throw error;
      } finally {
        fence = null;
        if (finished && threadId !== null) {
          saver.forgetFolded(threadId, await held.finish(threadId));
        } else {
          await held.release(finished);
        }
      }
    },
  };
}

/** All that can be refused before anything is stored: so a message is not stored twice. */
async function prepare(parts: ExchangerParts, request: ExchangeRequest): Promise<Prepared> {
  const session = await parts.store.read(readSession, { id: request.session_id });
  refuseEnded(session);
  const persona = await loadPersona({
    name: session.persona_name ?? "assistant",
    repoPath: session.repo_path,
    ...parts.personas,
  });
  const modelName = session.model ?? persona.model ?? defaultModel(parts.models);
  return {
    persona,
    modelName,
    model: await openModel({ name: modelName, config: parts.models }),
    instructions: session.repo_path === null ? null : await repoInstructions(session.repo_path),
  };
}
