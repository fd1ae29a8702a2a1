import { RepriseError } from "../../core/errors.ts";
import type { Exchanger, Live } from "../../agent/exchange.ts";
import type { PersonaPlaces } from "../../agent/personas/places.ts";
import type { ExchangeResult } from "../../agent/exchange-event.ts";
import { MAX_CONTENT_BYTES } from "../../core/limits.ts";
import type { Session } from "../../core/sessions.ts";
import { isStorableText } from "../../core/text.ts";
import { endSession, startThread } from "../../store/sessions/change.ts";
import { setPlanMode } from "../../store/sessions/plan-mode.ts";
import type { Store } from "../../store/store.ts";
import { type ChosenSession, createChosen } from "../choose-session.ts";

/** One session as its screen uses it. Nothing is stored before the first message or command. */
export interface Conversation {
  /** The session as last seen; null while nothing has been stored. */
  current(): Session | null;
  /** What a session that is not there yet will begin with. */
  planned(): { readonly model: string | null; readonly persona_name: string | null };
  send(text: string, live: Live): Promise<ExchangeResult>;
  /** Begins a fresh agent thread; `archive` hides the messages so far as well. */
  startThread(change: {
    readonly archive: boolean;
    readonly model?: string;
    readonly persona_name?: string;
  }): Promise<Session>;
  setPlanMode(on: boolean): Promise<Session>;
  end(): Promise<Session>;
  /** Error codes: `persona_not_found`, `persona_invalid`. */
  checkPersona(name: string): Promise<void>;
}

export function createConversation(parts: {
  readonly store: Store;
  readonly chosen: ChosenSession;
  readonly openExchanger: () => Promise<Exchanger>;
  readonly personas: PersonaPlaces;
}): Conversation {
  const { store, chosen } = parts;
  let session = chosen.kind === "existing" ? chosen.session : null;
  let exchanger: Promise<Exchanger> | null = null;

  const stored = async (): Promise<Session> =>
    (session ??= await createChosen(store, chosen.kind === "new" ? chosen.columns : {}));
  const keep = (changed: Session): Session => (session = changed);

  return {
    current: () => session,
    planned: () => ({
      model: session?.model ?? (chosen.kind === "new" ? chosen.columns.model : null) ?? null,
      persona_name:
        session?.persona_name ??
        (chosen.kind === "new" ? chosen.columns.persona_name : null) ??
        null,
    }),
    send: async (text, live) => {
      refuseUnstorable(text);
      const open = await (exchanger ??= parts.openExchanger());
      const { id } = await stored();
      const result = await open.exchange({ session_id: id, text }, live);
      keep(result.session);
      return result;
    },
    startThread: async (change) =>
      keep(await store.write(startThread, { id: (await stored()).id, ...change })),
    setPlanMode: async (on) =>
      keep(await store.write(setPlanMode, { id: (await stored()).id, plan_mode: on })),
    end: async () => keep(await store.write(endSession, { id: (await stored()).id })),
    checkPersona: async (name) => {
      const { loadPersona } = await import("../../agent/personas/load.ts");
      const { repo_path = null } =
        session ?? (chosen.kind === "new" ? chosen.columns : { repo_path: null });
      await loadPersona({ name, repoPath: repo_path, ...parts.personas });
    },
  };
}

function refuseUnstorable(text: string): void {
  if (!isStorableText(text)) {
    throw new RepriseError(
      "invalid_request",
      "The message holds a NUL or half a character, which cannot be stored; remove it and send again.",
    );
  }
  if (Buffer.byteLength(text) > MAX_CONTENT_BYTES) {
    throw new RepriseError(
      "body_too_large",
      "The message is larger than 1 MiB; send less at once, or name the file instead.",
    );
  }
}
