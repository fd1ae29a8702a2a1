import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import type {
  ModelInfo,
  PatchSessionRequest,
  PersonaInfo,
  SessionSummary,
} from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { useCall } from "../../parts/use-call.tsx";
import type { SessionModel } from "../model.ts";
import { type Mode, MODES } from "../modes.ts";
import { FallbackField, type FallbackList } from "./FallbackField.tsx";
import { type ModelContext, ModelField } from "./ModelField.tsx";

interface SettingsProps {
  readonly model: SessionModel;
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/**
 * The name of a session, its model and those in its place, persona, folder, planning mode and permission mode. Only what is changed here
 * is sent: the rest follows the session.
 */
export function Settings({ model, session, onClose }: SettingsProps): JSX.Element {
  const name = useSignal<string | null>(null);
  const chosenModel = useSignal("");
  const context = useSignal<ModelContext>("keep");
  const fallback = useSignal<FallbackList | undefined>(undefined);
  const persona = useSignal("");
  const folder = useSignal<string | null>(null);
  const newFolder = folder.value?.trim() ?? "";
  const isMoved = session.repo_path !== null && newFolder !== "" && newFolder !== session.repo_path;
  // a sub-agent has the mode of its root
  const given = session.parent_session_id === null ? session.permission : null;
  const mode = useSignal<Mode | null>(null);
  const planning = useSignal<boolean | null>(null);
  const isPlanning = planning.value ?? session.plan_mode;
  const models = useSignal<readonly ModelInfo[]>([]);
  const personas = useSignal<readonly PersonaInfo[]>([]);
  const { problem, isBusy, run, fail } = useCall(onClose);
  useEffect(() => {
    // a terminal may have changed it
    void model.refresh();
    const { repo_path } = session;
    Promise.all([
      client.listModels(),
      client.listPersonas(repo_path === null ? {} : { repo_path }),
    ]).then(([foundModels, foundPersonas]) => {
      models.value = foundModels.filter(({ is_usable }) => is_usable);
      personas.value = foundPersonas.filter(({ fault }) => fault === null);
    }, fail);
  }, []);
  const changedMode = (): PatchSessionRequest => {
    if (mode.value !== null && !isPlanning) {
      // it ends planning mode, too
      return { permission: mode.value };
    }
    return planning.value === null ? {} : { plan_mode: planning.value };
  };
  const changedModel = (): PatchSessionRequest => {
    const name = chosenModel.value.trim();
    if (name === "") {
      return {};
    }
    return persona.value === "" ? { model: name, context: context.value } : { model: name };
  };
  const changedFallback = (): PatchSessionRequest => {
    const { value } = fallback;
    return value === undefined ? {} : { fallback: value?.filter((each) => each !== "") ?? null };
  };
  const change = (): PatchSessionRequest => {
    const text = name.value?.trim();
    return {
      ...(text === undefined ? {} : { name: text === "" ? null : text }),
      ...changedModel(),
      ...changedFallback(),
      ...(persona.value === "" ? {} : { persona_name: persona.value }),
      ...changedMode(),
      ...(isMoved ? { repo_path: newFolder } : {}),
    };
  };
  const isUnchanged = Object.keys(change()).length === 0;
  const save = (): void =>
    run(async () => {
      await client.patchSession(session.id, change());
      await model.refresh();
    });
  return (
    <Dialog title="Name and settings" onClose={onClose}>
      {problem}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <label class="field">
          <span>Name</span>
          <input
            value={name.value ?? session.name ?? ""}
            dir="auto"
            maxLength={255}
            placeholder={session.title ?? ""}
            onInput={({ currentTarget: { value } }) => void (name.value = value)}
          />
        </label>
        <ModelField
          session={session}
          models={models.value}
          chosen={chosenModel}
          context={context}
          canKeep={persona.value === ""}
        />
        <FallbackField given={session.fallback} chosen={fallback} models={models.value} />
        <label class="field">
          <span>Persona</span>
          <select
            value={persona.value}
            onChange={({ currentTarget: { value } }) => void (persona.value = value)}
          >
            <option value="">{session.persona_name ?? "the default persona"}</option>
            {personas.value
              .filter((each) => each.name !== session.persona_name)
              .map(({ name: each }) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
          </select>
        </label>
        <p class="muted">
          Another persona begins a new thread: the agent then sees none of the messages before it.
        </p>
        {session.repo_path === null || session.parent_session_id !== null ? null : (
          <label class="field">
            <span>Folder</span>
            <input
              value={folder.value ?? session.repo_path}
              dir="ltr"
              onInput={({ currentTarget: { value } }) => void (folder.value = value)}
            />
          </label>
        )}
        {isMoved ? (
          <p class="muted">
            The session and its sub-agents continue there. Files are not moved, what you allowed
            counts no more, and undo of earlier changes stays in the old folder.
          </p>
        ) : null}
        {given === null || given === undefined ? null : (
          <label class="field">
            <span>Permissions</span>
            <select
              disabled={isPlanning}
              value={mode.value ?? given}
              onChange={({ currentTarget: { value } }) => void (mode.value = value as Mode)}
            >
              {Object.entries(MODES).map(([each, label]) => (
                <option key={each} value={each}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={isPlanning}
            onChange={({ currentTarget: { checked } }) => void (planning.value = checked)}
          />
          Planning mode: the agent reads, and changes nothing
        </label>
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isBusy || isUnchanged}>
            {isMoved ? "Save and move" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
