import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";

import type { ModelInfo, PersonaInfo } from "../../src/entries/client.ts";
import { client, isOwner } from "../api.ts";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { modelLabel } from "../parts/model-label.ts";
import { Notice } from "../parts/Notice.tsx";
import { sentenceOf } from "../parts/sentence-of.ts";
import { useRead } from "../parts/use-call.tsx";
import { go } from "../route.ts";

/** What a warning of the service means here. */
const WARNINGS: Readonly<Record<string, string>> = {
  folder_missing:
    "This folder does not exist on the machine of the service: messages in the session would fail. Check its path.",
  folder_not_served:
    "No running service works in this folder: messages in the session wait until one does. On the service's machine, run `reprise trust add` in the folder, or start the service with --repos.",
};

interface NewSessionProps {
  /** Folders of other sessions, which are offered. */
  readonly folders: readonly string[];
  readonly onClose: () => void;
}

/** A session that is made, and whose exchanges would fail or wait. */
interface Made {
  readonly id: string;
  readonly sentence: string;
}

/** Makes a session with a folder, a model and a persona, and opens it. */
export function NewSession({ folders, onClose }: NewSessionProps): JSX.Element {
  const folder = useSignal("");
  /** The folder once it is typed to its end: personas are read for that one alone. */
  const finished = useSignal("");
  const model = useSignal("");
  const persona = useSignal("");
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const made = useSignal<Made | null>(null);
  const known = useId();
  const { value: models, ...readingModels } = useRead<readonly ModelInfo[]>(
    () => client.listModels(),
    [],
    [],
  );
  const { value: personas, ...readingPersonas } = useRead<readonly PersonaInfo[]>(
    () => client.listPersonas(finished.value.startsWith("/") ? { repo_path: finished.value } : {}),
    [],
    [finished.value],
  );
  const standard = models.find(({ is_default }) => is_default);
  const create = async (): Promise<void> => {
    const path = folder.peek().trim();
    const warnings: string[] = [];
    isBusy.value = true;
    try {
      const { id } = await client.createSession(
        {
          ...(path === "" ? {} : { repo_path: path }),
          ...(model.value === "" ? {} : { model_override: model.value }),
          ...(persona.value === "" ? {} : { persona_name: persona.value }),
        },
        { onWarning: (code) => void warnings.push(code) },
      );
      const sentence = warnings.map((code) => WARNINGS[code]).find((each) => each !== undefined);
      if (sentence === undefined) {
        open(id);
      } else {
        made.value = { id, sentence };
      }
    } catch (error) {
      problem.value = sentenceOf(error);
    }
    isBusy.value = false;
  };
  /** Deletes it; another one is made with the folder that is entered then. */
  const change = async (id: string): Promise<void> => {
    isBusy.value = true;
    try {
      await client.deleteSession(id);
      made.value = null;
      problem.value = null;
    } catch (error) {
      problem.value = sentenceOf(error);
    }
    isBusy.value = false;
  };
  const open = (id: string): void => {
    onClose();
    go(`/sessions/${id}`);
  };
  if (made.value !== null) {
    const { id, sentence } = made.value;
    return (
      <Dialog key="made" title="New session" onClose={onClose}>
        {problem.value === null ? null : <Notice kind="problem">{problem.value}</Notice>}
        <Notice kind="warning">{sentence}</Notice>
        <div class="actions">
          {isOwner.value ? (
            <Button disabled={isBusy.value} onClick={() => void change(id)}>
              Change the folder
            </Button>
          ) : null}
          <Button kind="primary" onClick={() => open(id)}>
            Open the session
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New session" onClose={onClose}>
      {problem.value === null ? (
        (readingModels.problem ?? readingPersonas.problem)
      ) : (
        <Notice kind="problem">{problem.value}</Notice>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy.value) {
            void create();
          }
        }}
      >
        <label class="field">
          <span>Folder</span>
          <input
            value={folder.value}
            list={known}
            pattern="/.*"
            title="An absolute path, such as /home/me/project"
            placeholder="/home/me/project"
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget: { value } }) => {
              folder.value = value;
            }}
            onChange={({ currentTarget: { value } }) => {
              finished.value = value.trim();
            }}
          />
          <datalist id={known}>
            {folders.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </datalist>
        </label>
        <p class="muted">
          On the machine of the service. Without a folder, the agent has no tools for files.
        </p>
        <label class="field">
          <span>Model</span>
          <select
            value={model.value}
            onChange={({ currentTarget: { value } }) => {
              model.value = value;
            }}
          >
            <option value="">
              {standard === undefined ? "The default model" : modelLabel(standard)}
            </option>
            {models
              .filter(({ is_default }) => !is_default)
              .map((each) => (
                <option key={each.name} value={each.name} disabled={!each.is_usable}>
                  {modelLabel(each)}
                </option>
              ))}
          </select>
        </label>
        <label class="field">
          <span>Persona</span>
          <select
            value={persona.value}
            onChange={({ currentTarget: { value } }) => {
              persona.value = value;
            }}
          >
            <option value="">The default persona</option>
            {personas
              .filter(({ fault }) => fault === null)
              .map(({ name, source }) => (
                <option key={`${source}/${name}`} value={name}>
                  {name}
                </option>
              ))}
          </select>
        </label>
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isBusy.value}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
