import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId } from "preact/hooks";

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

/** What is asked before a tool takes effect; planning is a setting beside it. */
const MODES = [
  { mode: "ask", label: "ask: each change is asked about" },
  { mode: "edits", label: "edits: ordinary files in the folder without a question" },
  { mode: "auto", label: "auto: as edits, and commands in the sandbox without a question" },
  { mode: "all", label: "all: only protected files are asked about" },
] as const;
type Mode = (typeof MODES)[number]["mode"];

interface SettingsProps {
  readonly model: SessionModel;
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/** The name of a session, its model, persona, planning mode and permission mode. Only what is changed is sent. */
export function Settings({ model, session, onClose }: SettingsProps): JSX.Element {
  const name = useSignal(session.name ?? "");
  const chosenModel = useSignal("");
  const persona = useSignal("");
  const mode = useSignal<Mode | "">("");
  const isPlanning = useSignal(session.plan_mode);
  const models = useSignal<readonly ModelInfo[]>([]);
  const personas = useSignal<readonly PersonaInfo[]>([]);
  const known = useId();
  const { problem, isBusy, run, fail } = useCall(onClose);
  useEffect(() => {
    const { repo_path } = session;
    Promise.all([
      client.listModels(),
      client.listPersonas(repo_path === null ? {} : { repo_path }),
    ]).then(([foundModels, foundPersonas]) => {
      models.value = foundModels.filter(({ is_usable }) => is_usable);
      personas.value = foundPersonas.filter(({ fault }) => fault === null);
    }, fail);
  }, []);
  const change = (): PatchSessionRequest => {
    const text = name.value.trim();
    return {
      ...(text === (session.name ?? "") ? {} : { name: text === "" ? null : text }),
      ...(chosenModel.value.trim() === "" ? {} : { model: chosenModel.value.trim() }),
      ...(persona.value === "" ? {} : { persona_name: persona.value }),
      ...(mode.value === "" ? {} : { permission: mode.value }),
      ...(isPlanning.value === session.plan_mode ? {} : { plan_mode: isPlanning.value }),
    };
  };
  const save = (): void =>
    run(async () => {
      const changed = change();
      if (Object.keys(changed).length > 0) {
        await client.patchSession(session.id, changed);
        await model.refresh();
      }
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
            value={name.value}
            dir="auto"
            maxLength={255}
            placeholder={session.title ?? ""}
            onInput={({ currentTarget: { value } }) => void (name.value = value)}
          />
        </label>
        <label class="field">
          <span>Model</span>
          <input
            value={chosenModel.value}
            list={known}
            spellcheck={false}
            autocomplete="off"
            placeholder={session.model ?? "the default model"}
            onInput={({ currentTarget: { value } }) => void (chosenModel.value = value)}
          />
          <datalist id={known}>
            {models.value.map(({ name: each }) => (
              <option key={each}>{each}</option>
            ))}
          </datalist>
        </label>
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
          Another model or persona begins a new thread: the agent then sees none of the messages
          before it.
        </p>
        <label class="field">
          <span>Permissions</span>
          <select
            value={mode.value}
            onChange={({ currentTarget: { value } }) => {
              mode.value = MODES.find((each) => each.mode === value)?.mode ?? "";
            }}
          >
            <option value="">as it is</option>
            {MODES.map((each) => (
              <option key={each.mode} value={each.mode}>
                {each.label}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isPlanning.value}
            onChange={({ currentTarget: { checked } }) => void (isPlanning.value = checked)}
          />
          Planning mode: the agent reads, and changes nothing
        </label>
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
